package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	plenty = 256 << 20 // how much memory a busy gateway holds without a thought
	little = 8 << 20   // how much is not worth giving back
	calm   = 1 << 20   // how much a quiet gateway allocates in a second
)

// memory trades memory for time while the gateway is busy, and gives back to the system what large results, many sessions
// or the start have left behind. By itself the runtime does so only minutes later.
type memory struct {
	last    usage
	left    uint64 // held after it was last given back
	percent int    // how much garbage there may be beside what is in use; 0: as the runtime has it
}

// usage is what the process has used so far.
type usage struct {
	held      uint64 // of the system, now
	allocated uint64
	cycles    uint64 // of the garbage collector
}

// everySecond is called every second.
func (m *memory) everySecond() {
	now := readUsage()
	if percent := m.pace(now); percent != m.percent && os.Getenv("GOGC") == "" {
		m.percent = percent
		debug.SetGCPercent(percent)
	}
	quiet := now.allocated-m.last.allocated < calm
	m.last = now
	enough := max(plenty, 2*m.left)
	if quiet {
		enough = m.left + max(little, m.left/4)
	}
	if now.held < enough {
		return
	}
	if quiet {
		runtime.GC() // each round halves the stacks that have grown too large
	}
	debug.FreeOSMemory()
	m.last = readUsage()
	m.left = m.last.held
}

// pace is how much garbage there may be. A busy gateway with little in use would collect it many times a second.
func (m *memory) pace(now usage) int {
	switch cycles := now.cycles - m.last.cycles; {
	case cycles < 1 || now.held > plenty:
		return 100
	case cycles > 4:
		return 300
	}
	return max(100, m.percent)
}

func readUsage() usage {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/cycles/automatic:gc-cycles"},
	}
	metrics.Read(s)
	return usage{s[0].Value.Uint64() - s[1].Value.Uint64(), s[2].Value.Uint64(), s[3].Value.Uint64()}
}
