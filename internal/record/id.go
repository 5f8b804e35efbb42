package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// digits are in the order of their bytes, so that ids sort as their numbers do.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	idPrefix   = "c_"
	timeDigits = 11 // 55 bits of microseconds, enough until the year 3111
	nodeDigits = 8  // 40 random bits that tell processes apart
	idLen      = len(idPrefix) + timeDigits + nodeDigits
)

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
	put(d.node[:], binary.LittleEndian.Uint64(b[:]))
}

// next gives each id a microsecond of its own, later than all before, whatever the
// clock does: no other counter is needed.
func (d *ids) next(now time.Time) string {
	us := now.UnixMicro()
	for {
		last := d.last.Load()
		us = max(us, last+1)
		if d.last.CompareAndSwap(last, us) {
			break
		}
	}
	var b [idLen]byte
	n := copy(b[:], idPrefix)
	put(b[n:n+timeDigits], uint64(us))
	copy(b[n+timeDigits:], d.node[:])
	return string(b[:])
}

// FirstID sorts before every id that is made from then on, and after all earlier ones.
func FirstID(at time.Time) string {
	var b [timeDigits]byte
	put(b[:], uint64(min(max(at.UnixMicro(), 0), 1<<(5*timeDigits)-1)))
	return idPrefix + string(b[:])
}

// put writes the low bits of v, five to a digit.
func put(b []byte, v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[v&31]
		v >>= 5
	}
}
