package store_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func question(id, principal, digest string) store.Approval {
	return store.Approval{
		ID: id, Principal: principal, Profile: "default", Server: "shop", Tool: "shop__refund", Digest: digest, Call: "call-" + id,
		About: []byte(`{"arguments":{"客户":"secret-of-` + id + `"}}`), Expires: noon.Add(10 * time.Minute),
	}
}

func testApprovals(t *testing.T, dsn string, raw rawFunc) {
	c := &clock{noon}
	key, err := store.ParseSecretKey("a key that is long enough")
	check(t, err)
	s := open(t, dsn, &store.Options{Now: c.now, SecretKey: key})
	ctx := t.Context()
	ask := func(a store.Approval) (store.Approval, bool) {
		t.Helper()
		got, asked, err := s.AskApproval(ctx, a, 2)
		check(t, err)
		return got, asked
	}
	state := func(id string, want store.ApprovalState) {
		t.Helper()
		got, err := s.Approval(ctx, id)
		check(t, err)
		equal(t, got.State, want)
	}
	use := func(id string, want bool) {
		t.Helper()
		ok, err := s.UseApproval(ctx, id)
		check(t, err)
		equal(t, ok, want)
	}
	got, asked := ask(question("a", "ann", "d1"))
	equal(t, asked, true)
	want := question("a", "ann", "d1")
	want.State, want.Created = store.ApprovalOpen, noon
	equal(t, got, want)
	got, asked = ask(question("a2", "ann", "d1")) // the same call: the same question
	equal(t, fmt.Sprintln(got.ID, asked), "a false\n")
	ask(question("b", "ann", "d2")) // other arguments: another one
	_, _, err = s.AskApproval(ctx, question("c", "ann", "d3"), 2)
	equal(t, fault.Is(err, fault.LimitReached), true)
	ask(question("d", "bob", "d1"))
	use("a", false) // nobody has approved it

	until := noon.Add(time.Hour)
	got, err = s.DecideApproval(ctx, "a", store.ApprovalApproved, "eve", "好", until)
	check(t, err)
	equal(t, fmt.Sprintln(got.State, got.By, got.Reason, got.Decided.Equal(noon), got.Expires.Equal(until)), "approved eve 好 true true\n")
	_, err = s.DecideApproval(ctx, "a", store.ApprovalDenied, "eve", "", until)
	equal(t, fault.Is(err, fault.Conflict), true)
	_, err = s.DecideApproval(ctx, "nothing", store.ApprovalDenied, "eve", "", until)
	equal(t, fault.Is(err, fault.NotFound), true)
	use("a", true)
	use("a", false)
	check(t, s.ReturnApproval(ctx, "a")) // its server asked something
	use("a", true)
	got, asked = ask(question("a3", "ann", "d1")) // used: it is asked anew
	equal(t, fmt.Sprintln(got.ID, asked), "a3 true\n")
	check(t, s.ReturnApproval(ctx, "a")) // another one stands for the call by now
	state("a", store.ApprovalUsed)

	check(t, s.CancelApproval(ctx, "a3", "somebody else's call"))
	state("a3", store.ApprovalOpen)
	check(t, s.CancelApproval(ctx, "a3", "call-a3"))
	state("a3", store.ApprovalCanceled)

	_, err = s.DecideApproval(ctx, "b", store.ApprovalDenied, "eve", "no", noon.Add(time.Minute))
	check(t, err)
	got, _ = ask(question("b2", "ann", "d2"))
	equal(t, fmt.Sprintln(got.ID, got.State, got.Reason), "b denied no\n")
	found, err := s.Approvals(ctx, true, "", 0)
	check(t, err)
	equal(t, fmt.Sprintln(len(found), found[0].ID), "1 d\n")

	c.at = noon.Add(10 * time.Minute)
	state("d", store.ApprovalExpired)
	state("b", store.ApprovalDenied)
	_, err = s.DecideApproval(ctx, "d", store.ApprovalApproved, "eve", "", until)
	equal(t, fault.Is(err, fault.Conflict), true)
	again := question("d2", "bob", "d1")
	again.Expires = c.at.Add(time.Minute)
	got, asked = ask(again)
	equal(t, fmt.Sprintln(got.ID, asked), "d2 true\n")
	found, err = s.Approvals(ctx, false, "shop__refund", 0)
	check(t, err)
	equal(t, len(found), 5)
	var stored []byte
	check(t, raw(t, dsn).QueryRow("SELECT about FROM approvals WHERE id = 'd2'").Scan(&stored))
	if bytes.Contains(stored, []byte("secret-of")) {
		t.Errorf("stored in the clear: %s", stored)
	}
	other := open(t, dsn, &store.Options{Now: c.now})
	got, err = other.Approval(ctx, "d2")
	check(t, err)
	equal(t, fmt.Sprint(got.Err != nil, got.About == nil), "true true")

	c.at = noon.Add(24 * time.Hour)
	n, err := s.TrimApprovals(ctx, noon.Add(time.Minute))
	check(t, err)
	equal(t, n, int64(4))
}

func testApprovalsAtOnce(t *testing.T, dsn string, _ rawFunc) {
	stores := []*store.Store{open(t, dsn, nil), open(t, dsn, nil)}
	ctx := t.Context()
	var asked, decided, used atomic.Int32
	all := func(do func(i int, s *store.Store)) {
		var work sync.WaitGroup
		for i := range 8 {
			work.Go(func() { do(i, stores[i%2]) })
		}
		work.Wait()
	}
	q := question("", "ann", "d")
	q.Expires = time.Now().Add(time.Hour)
	id := ""
	var mu sync.Mutex
	all(func(i int, s *store.Store) {
		one := q
		one.ID = fmt.Sprint("q", i)
		got, mine, err := s.AskApproval(ctx, one, 20)
		if err != nil || got.ID == "" {
			t.Errorf("%+v, %v", got, err)
		}
		if mine {
			asked.Add(1)
			mu.Lock()
			id = got.ID
			mu.Unlock()
		}
	})
	all(func(i int, s *store.Store) {
		_, err := s.DecideApproval(ctx, id, store.ApprovalApproved, fmt.Sprint("p", i), "", time.Now().Add(time.Hour))
		if err == nil {
			decided.Add(1)
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	})
	all(func(_ int, s *store.Store) {
		ok, err := s.UseApproval(ctx, id)
		check(t, err)
		if ok {
			used.Add(1)
		}
	})
	equal(t, fmt.Sprint(asked.Load(), decided.Load(), used.Load()), "1 1 1")
}
