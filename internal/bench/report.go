package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// report is everything that was seen.
type report struct {
	Quick    bool
	Date     string
	Commit   string
	Machine  string
	Node     string // its version
	Peers    []reportPeer
	Calls    []reportCall
	Memory   []reportMemory
	Growth   []reportGrowth
	Points   []reportPoint
	Loss     []reportLoss
	Troubles []reportTrouble
}

type reportPeer struct {
	Name, Does, How, Version, Missing string
	Modern                            bool
}

// reportCall is one scenario through one gateway: medians over rounds.
type reportCall struct {
	Peer, Era, Scenario string
	Calls, Wrong        int
	CPU                 float64 // µs per call
	PerSecond, P50, P99 float64 // times in ms
	Upstream            float64 // messages to the server per call
}

type reportMemory struct {
	Peer            string
	Start, StartCPU float64 // s
	Idle            float64 // MB
	PerSession      float64 // KB
	Processes       float64 // per session
	Sessions        int
}

type reportGrowth struct {
	Peer                        string
	Tools                       int
	Start, StartCPU, SettledCPU float64 // s
	Memory                      float64 // MB
	List                        float64 // ms
	ListBytes                   int
	Search                      float64 // ms
	Found                       int     // of the queries
}

// reportPoint is what was measured with so many of what an axis has.
type reportPoint struct {
	Axis, Row string
	At        int
	Values    figuresOf
}

type reportLoss struct {
	Peer, Era string
	Verdicts  map[string]reportVerdict // by check
}

type reportVerdict struct{ Verdict, Got string }

type reportTrouble struct{ Peer, At, Why string }

// trouble notes what a gateway could not do. The others go on.
func (r *report) trouble(p *peer, at string, err error) {
	t := reportTrouble{p.name, at, shorten(strings.Join(strings.Fields(err.Error()), " "))}
	fmt.Fprintf(os.Stderr, "%s, %s: %v\n", t.Peer, t.At, err)
	for _, have := range r.Troubles {
		if have == t {
			return
		}
	}
	r.Troubles = append(r.Troubles, t)
}

// machine describes where the figures come from.
func machine() string {
	model := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, is := strings.CutPrefix(line, "model name"); is {
			model = strings.TrimSpace(strings.TrimLeft(name, "\t :"))
			break
		}
	}
	memory := ""
	text, _ = os.ReadFile("/proc/meminfo")
	var kb int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d", &kb); err == nil {
		memory = fmt.Sprintf(", %.0f GB of memory", float64(kb)/1e6)
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d cores of %s%s, Linux %s, %s", runtime.NumCPU(), model, memory, strings.TrimSpace(string(kernel)), runtime.Version())
}
