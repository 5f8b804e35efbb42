package presence

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

var ann = access.Principal{ID: "ann", Name: "Ann"}

// clock goes on by a second with each look.
func clock() func() time.Time {
	at := time.Unix(1000, 0)
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

func TestAClientIsRememberedByItsNameProfileAndCaller(t *testing.T) {
	s := New(clock())
	info := []byte(`{"name":"claude-code","version":"2.1","title":"Claude"}`)
	s.Note(ann, "work", mcp.Legacy, info, false)
	s.Note(ann, "work", mcp.Legacy, info, true)
	s.Note(ann, "work", mcp.Legacy, []byte(`{"version":"2.1","name":"claude-code"}`), true)
	s.Note(ann, "home", mcp.Legacy, info, false)
	s.Note(access.Principal{ID: "ben", Name: "Ben"}, "work", mcp.Modern, nil, true)
	all := s.Clients()
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	if c := all[2]; c.Name != "claude-code" || c.Version != "2.1" || c.Calls != 2 || c.CallerName != "Ann" || !c.Last.After(c.First) {
		t.Errorf("%+v", c)
	}
	if c := all[0]; c.Caller != "ben" || c.Name != "" || c.Era != mcp.Modern || c.Calls != 1 {
		t.Errorf("the last one comes first: %+v", c)
	}
}

func TestNobodyPushesOutTheClientsOfOthers(t *testing.T) {
	s := New(clock())
	s.Note(ann, "work", mcp.Legacy, []byte(`{"name":"mine"}`), true)
	for i := range 3 * maxClients {
		s.Note(access.Principal{ID: "ben"}, "work", mcp.Legacy, fmt.Appendf(nil, `{"name":"n%d"}`, i), true)
	}
	s.Note(access.Principal{ID: "ben"}, "work", mcp.Legacy, fmt.Appendf(nil, `{"name":"%0200d"}`, 1), true)
	all := s.Clients()
	if len(all) != maxOwn+1 || all[maxOwn].Caller != "ann" || all[0].Name != "" {
		t.Errorf("%d clients, the oldest %+v, the newest %+v", len(all), all[len(all)-1], all[0])
	}
	for i := range 2 * maxClients {
		s.Note(access.Principal{ID: fmt.Sprint(i)}, "work", mcp.Legacy, nil, true)
	}
	if n := len(s.Clients()); n != maxClients {
		t.Errorf("%d are remembered", n)
	}
}

// Others may look, or need room, before the first request is noted.
func TestANewClientIsNotSilent(t *testing.T) {
	s := New(clock())
	s.add(ann, key{caller: "ann"})
	if c := s.Clients()[0]; c.Last.Before(c.First) {
		t.Errorf("it came at %s and was last seen at %s", c.First, c.Last)
	}
}

func TestAKnownClientCostsNoAllocation(t *testing.T) {
	s := New(nil)
	info := []byte(`{"name":"claude-code","version":"2.1"}`)
	s.Note(ann, "work", mcp.Legacy, info, true)
	if n := testing.AllocsPerRun(100, func() { s.Note(ann, "work", mcp.Legacy, info, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNote(b *testing.B) {
	s := New(nil)
	info := []byte(`{"name":"claude-code","version":"2.1"}`)
	b.ReportAllocs()
	for b.Loop() {
		s.Note(ann, "work", mcp.Legacy, info, true)
	}
}
