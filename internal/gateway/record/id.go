package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// nodeDigits are 40 random bits that tell processes apart.
const nodeDigits = 8

// ids makes ids of the microsecond and the process.
type ids struct {
	node [nodeDigits]byte
	last atomic.Int64 // the last microsecond given out
}

func (d *ids) start(random io.Reader) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		panic(fmt.Sprintf("read randomness: %v", err)) // crypto/rand never fails
	}
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	bits := binary.LittleEndian.Uint64(b[:])
	for i := range d.node {
		d.node[i] = digits[bits>>(5*i)&31]
	}
}

// next gives each id its own microsecond, later than all before, whatever the clock does.
func (d *ids) next(now time.Time) string {
	us := now.UnixMicro()
	for {
		last := d.last.Load()
		us = max(us, last+1)
		if d.last.CompareAndSwap(last, us) {
			break
		}
	}
	var b [24]byte // more than an id
	id := store.AppendCallTime(b[:0], time.UnixMicro(us))
	return string(append(id, d.node[:]...))
}

// FirstID sorts before every id that is made from then on, and after all earlier ones.
func FirstID(at time.Time) string { return string(store.AppendCallTime(nil, at)) }
