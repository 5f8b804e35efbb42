package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func testLongLists(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 200} {
		want := store.Server{ID: "a", Era: fmt.Sprint("era", n), TTL: time.Duration(n) * time.Second, PrivateTo: fmt.Sprint(n),
			ListedAt: noon, CheckedAt: noon}
		for i := range n {
			want.Tools = append(want.Tools, store.Tool{Name: fmt.Sprint(n, "/", i), Definition: json.RawMessage(fmt.Sprint(i))})
			want.Held = append(want.Held, store.Held{Kind: "tool", Name: fmt.Sprintf("%04d", i), KeptOut: i%3 == 0})
			want.Prompts = append(want.Prompts, json.RawMessage(fmt.Sprint("p", i)))
			want.Resources = append(want.Resources, json.RawMessage(fmt.Sprint("r", i)))
			want.Templates = append(want.Templates, json.RawMessage(fmt.Sprint("t", i)))
		}
		check(t, s.SaveTools(ctx, want))
		got, err := s.Servers(ctx)
		check(t, err)
		equal(t, got, []store.Server{want})
	}
}

func testSnapshot(t *testing.T, open func() *store.Store) {
	writer := open()
	reader := open()
	ctx := t.Context()
	list := func(round int) store.Server {
		mark := json.RawMessage(fmt.Sprint(round))
		srv := store.Server{ID: "a", Info: mark, Instructions: string(mark)}
		for range 20 {
			srv.Tools = append(srv.Tools, store.Tool{Name: string(mark), Definition: mark})
			srv.Prompts = append(srv.Prompts, mark)
			srv.Held = append(srv.Held, store.Held{Kind: "prompt", Name: string(mark)})
		}
		return srv
	}
	check(t, writer.SaveTools(ctx, list(0)))
	done := make(chan error, 1)
	go func() {
		var err error
		for round := 1; round < 60 && err == nil; round++ {
			err = writer.SaveTools(ctx, list(round))
		}
		done <- err
	}()
	for reads := 0; ; reads++ {
		got, err := reader.Servers(ctx)
		check(t, err)
		var round int
		check(t, json.Unmarshal(got[0].Info, &round))
		equal(t, got, []store.Server{list(round)})
		select {
		case err := <-done:
			check(t, err)
			if reads == 0 {
				t.Log("the writer was done after one read")
			}
			return
		default:
		}
	}
}

func testDecisions(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	want := sampleServer("a")
	check(t, s.SaveTools(ctx, want))
	check(t, s.SaveTools(ctx, sampleServer("b")))
	first := store.Decision{Kind: "tool", Name: "x", Hash: "1", Verdict: store.KeptOut, By: "ann", At: noon}
	other := store.Decision{Kind: "tool", Name: "x", Hash: "2", Verdict: store.Approved, By: "bob", At: noon}
	check(t, s.Decide(ctx, "a", []store.Decision{first, other}))
	first.Verdict = store.Approved
	first.By = "cho"
	check(t, s.Decide(ctx, "a", []store.Decision{first}))
	check(t, s.SaveTools(ctx, want)) // leaves them as they are
	want.Decisions = []store.Decision{first, other}
	got, err := s.Server(ctx, "a")
	check(t, err)
	equal(t, got, want)
	all, err := s.Servers(ctx)
	check(t, err)
	equal(t, all, []store.Server{want, sampleServer("b")})
	check(t, s.RemoveServer(ctx, "a"))
	got, err = s.Server(ctx, "a")
	check(t, err)
	equal(t, got, store.Server{ID: "a"})
	check(t, s.SaveTools(ctx, sampleServer("a")))
	got, err = s.Server(ctx, "a")
	check(t, err)
	equal(t, got, sampleServer("a"))
}
