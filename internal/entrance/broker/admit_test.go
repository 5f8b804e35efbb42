package broker

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestStoreThatDoesNotAnswerPutsNobodyOut(t *testing.T) {
	w := newWorld(t, nil)
	got := w.exchange(w.code())
	other := w.exchange(w.code())
	if !w.admits(got.Access) {
		t.Fatal("not admitted")
	}
	revoked := w.exchange(w.code())
	w.admits(revoked.Access)
	w.post("/oauth/revoke", url.Values{"token": {revoked.Access}})
	if w.admits(revoked.Access) {
		t.Error("revoked, and still in")
	}
	w.Store.Close()
	w.Forget()
	if w.admits(revoked.Access) {
		t.Error("revoked, and in again while the store does not answer")
	}
	for range 3 {
		w.pass(9 * time.Second) // keys are good for ten seconds after the store went away, and longer
		if !w.admits(got.Access) {
			t.Error("put out")
		}
	}
	if _, err := w.Admit(t.Context(), other.Access, w.server.URL+"/mcp"); err == nil || fault.Is(err, fault.Unauthorized) {
		t.Errorf("one that is not known: %v", err)
	}
	w.pass(time.Hour)
	if w.admits(got.Access) {
		t.Error("an expired token opens")
	}
}

func TestManyTokensAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	var all []tokens
	for range 4 {
		all = append(all, w.exchange(w.code()))
	}
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := range 200 {
				token := all[(i+n)%len(all)]
				if _, err := w.Admit(context.Background(), token.Access, w.server.URL+"/mcp"); err != nil {
					t.Error(err)
				}
				if n%50 == 0 {
					w.Forget()
				}
			}
		})
	}
	work.Wait()
}

func BenchmarkAdmit(b *testing.B) {
	w := newWorld(b, nil)
	got := w.exchange(w.code())
	resource := w.server.URL + "/mcp"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Admit(context.Background(), got.Access, resource); err != nil {
			b.Fatal(err)
		}
	}
}
