package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// listedAt is a server that lists a tool x with the definition, and one that never changes.
func listedAt(at time.Time, definition string) store.Server {
	return store.Server{ID: "a", ListedAt: at, CheckedAt: at, Tools: []store.Tool{
		{Name: "same", Definition: json.RawMessage(`{"name":"same"}`)}, {Name: "x", Definition: json.RawMessage(definition)},
	}}
}

// otherServer is sampleServer after its tools have changed.
func otherServer(id tool.ServerID) store.Server {
	srv := sampleServer(id)
	srv.Tools = []store.Tool{{Name: "one", Definition: json.RawMessage(`{"now":"文"}`)}, {Name: "two", Definition: json.RawMessage(`{}`)}}
	return srv
}

func testDefinitions(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	minute := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	one, two := `{"name":"x", "n":1}`, "{\"name\":\"x\",\"n\":\"\xff\\u0000\"}"
	check(t, s.SaveTools(ctx, listedAt(minute(0), one)))
	check(t, s.SaveTools(ctx, listedAt(minute(1), `{"n":1,"name":"x"}`))) // says the same
	check(t, s.SaveTools(ctx, listedAt(minute(2), two)))
	decision := store.Decision{Kind: "tool", Name: "x", Hash: tool.Hash(json.RawMessage(two)), Verdict: store.Approved, By: "ann", At: minute(3)}
	check(t, s.Decide(ctx, "a", []store.Decision{decision, {Kind: "prompt", Name: "x", Hash: tool.Hash(json.RawMessage(one)), Verdict: store.KeptOut}}))
	def := func(raw string, since, until time.Time, d *store.Decision) store.Definition {
		return store.Definition{Hash: tool.Hash(json.RawMessage(raw)), Raw: json.RawMessage(raw), Since: since, Until: until, Decision: d}
	}
	never := time.Time{}
	want := []store.Definition{def(two, minute(2), never, &decision), def(`{"n":1,"name":"x"}`, minute(0), minute(2), nil)}
	got, err := s.Definitions(ctx, "a", "x")
	check(t, err)
	equal(t, got, want)
	got, err = s.Definitions(ctx, "a", "same")
	check(t, err)
	equal(t, got, []store.Definition{def(`{"name":"same"}`, minute(0), never, nil)})

	check(t, s.SaveTools(ctx, listedAt(minute(4), one))) // as it was before: that is the newest again, and is there once
	check(t, s.SaveTools(ctx, listedAt(minute(5), `{}`)))
	check(t, s.SaveTools(ctx, store.Server{ID: "a", ListedAt: minute(6)}))
	want = []store.Definition{
		def(`{}`, minute(5), minute(6), nil), def(one, minute(4), minute(5), nil), def(two, minute(2), minute(4), &decision),
	}
	got, err = s.Definitions(ctx, "a", "x")
	check(t, err)
	equal(t, got, want)

	check(t, s.RemoveServer(ctx, "a"))
	got, err = s.Definitions(ctx, "a", "x")
	check(t, err)
	equal(t, len(got), 0)
}

func testManyDefinitions(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	for i := range 30 {
		check(t, s.SaveTools(ctx, listedAt(noon.Add(time.Duration(i)*time.Minute), fmt.Sprint(i))))
	}
	got, err := s.Definitions(ctx, "a", "x")
	check(t, err)
	equal(t, len(got), 21) // the one that is listed now, too
	equal(t, string(got[20].Raw), "9")

	many := store.Server{ID: "a", ListedAt: noon.Add(time.Hour)}
	for i := range 50 { // another name and 100 kB each time
		many.ListedAt = many.ListedAt.Add(time.Minute)
		text := json.RawMessage(`"` + strings.Repeat("a", 100_000) + `"`)
		many.Tools = []store.Tool{{Name: fmt.Sprint("big", i), Definition: text}}
		check(t, s.SaveTools(ctx, many))
	}
	kept := 0
	for i := range 50 {
		got, err := s.Definitions(ctx, "a", fmt.Sprint("big", i))
		check(t, err)
		kept += len(got)
		if last := i >= 49-41; (len(got) == 1) != last {
			t.Errorf("of big%d %d are kept", i, len(got))
		}
	}
	equal(t, kept, 42) // 41 are 4 MiB, and one is listed
	got, err = s.Definitions(ctx, "a", "x")
	check(t, err)
	equal(t, len(got), 0)
}
