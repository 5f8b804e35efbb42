package app

import (
	"runtime/debug"
	"runtime/metrics"
)

// plenty is how much memory is held without a thought.
const plenty = 256 << 20

// memory gives memory back to the system that large results have left behind. By itself the runtime does so
// only minutes after the last call.
type memory struct {
	left uint64 // after it was last given back
}

// giveBack is called now and then: it collects all garbage.
func (m *memory) giveBack() {
	if held() < max(plenty, 2*m.left) {
		return
	}
	debug.FreeOSMemory()
	m.left = held()
}

// held is how much memory the process has of the system.
func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
