package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	plenty = 256 << 20 // how much memory a busy gateway holds without a thought
	little = 8 << 20   // how much is not worth giving back
	calm   = 1 << 20   // how much a quiet gateway allocates in a second
)

// memory gives memory back to the system that large results, many sessions or the start have left behind. By itself the
// runtime does so only minutes later.
type memory struct {
	left      uint64 // held after it was last given back
	allocated uint64 // in all, when it was last looked at
}

// giveBack is called every second.
func (m *memory) giveBack() {
	held, allocated := measureMemory()
	quiet := allocated-m.allocated < calm
	m.allocated = allocated
	enough := max(plenty, 2*m.left)
	if quiet {
		enough = m.left + max(little, m.left/4)
	}
	if held < enough {
		return
	}
	if quiet {
		runtime.GC() // each round halves the stacks that have grown too large
	}
	debug.FreeOSMemory()
	m.left, m.allocated = measureMemory()
}

// measureMemory tells how much memory the process has of the system, and how much it has allocated so far.
func measureMemory() (held, allocated uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64(), s[2].Value.Uint64()
}
