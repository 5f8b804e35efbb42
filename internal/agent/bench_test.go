//go:build unix

package agent

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/state/config"
)

// silent answers at once, so that nothing but the loop is measured.
type silent struct{ n int }

func (s *silent) Ask(_ context.Context, _ *config.Model, _ []byte, hear func(conversation.Piece) error) (*conversation.Reply, error) {
	s.n++
	if err := hear(conversation.Piece{Text: "Let me look at it."}); err != nil {
		return nil, err
	}
	r := &conversation.Reply{Text: "Let me look at it.", Finish: "stop", Usage: conversation.Usage{Prompt: 100, Completion: 10}}
	if s.n%4 != 0 {
		r.Finish, r.Calls = "tool_calls", []conversation.Call{{ID: "1", Tool: "read_data_from_excel",
			Arguments: `{"filepath":"test.xlsx","sheet_name":"Sheet1"}`}}
	}
	return r, nil
}

func (s *silent) Encode(m *config.Model, c conversation.Conversation) []byte {
	return (*endpoint.Client)(nil).Encode(m, c)
}

// BenchmarkRound measures what one round costs beside model and tools: an answer of four
// rounds with three calls, stored in SQLite.
func BenchmarkRound(b *testing.B) {
	w := newWorld(b, "", nil)
	w.parts.Models = &silent{}
	b.ReportAllocs()
	began := cpu()
	rounds := 0
	for b.Loop() {
		a := w.must(w.turn("helper", "go"))
		rounds += a.Rounds
	}
	b.ReportMetric(float64(cpu()-began)/float64(rounds)/1e6, "cpu-ms/round")
}

// cpu is the time that this process has used of all processors.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLongSession measures an answer in a session of forty thousand messages, of which a
// hundred are remembered.
func BenchmarkLongSession(b *testing.B) {
	w := newWorld(b, "", nil)
	session := w.longSession(40_000)
	b.ReportAllocs()
	began, turns := cpu(), 0
	for b.Loop() {
		w.parts.Models = &silent{n: 3} // it answers at once
		turn := w.turn("helper", "go")
		turn.Session = session
		w.must(turn)
		turns++
	}
	b.ReportMetric(float64(cpu()-began)/float64(turns)/1e6, "cpu-ms/turn")
}
