package record

import (
	"strings"

	"github.com/toolfit/toolfit/internal/state/store"
)

// Recent is how many records of other gateways are remembered, so that none is told twice.
const Recent = 1024

// heard are the ids of the last records of other gateways. It is part of live, whose lock guards it.
type heard struct {
	ids  map[string]bool
	ring [Recent]string
	next int
}

// add returns false if it was added before.
func (h *heard) add(id string) bool {
	if h.ids[id] {
		return false
	}
	if h.ids == nil {
		h.ids = make(map[string]bool, Recent)
	}
	delete(h.ids, h.ring[h.next])
	h.ring[h.next] = id
	h.next = (h.next + 1) % Recent
	h.ids[id] = true
	return true
}

// Hear gives subscribers the records of other gateways, each once; our own they had before. More are lost. If they are old,
// they are only remembered.
func (l *Log) Hear(calls []store.Call, more int, old bool) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	for i := range calls {
		c := &calls[i]
		if strings.HasSuffix(c.ID, string(l.ids.node[:])) || !l.live.others.add(c.ID) || old {
			continue
		}
		for s := range l.live.subs {
			s.send(c)
		}
	}
	for s := range l.live.subs {
		s.lost += int64(more)
	}
}
