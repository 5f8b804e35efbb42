package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func testTrimExpired(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	for i := range 10 {
		r := sampleResult(i)
		if i%2 == 0 {
			r.Expires = noon.Add(time.Hour)
		}
		check(t, s.SaveResult(ctx, r))
	}
	deleted, err := s.TrimResults(ctx, store.ResultLimits{})
	check(t, err)
	equal(t, deleted, 5)
	deleted, err = s.TrimResults(ctx, store.ResultLimits{})
	check(t, err)
	equal(t, deleted, 0)
	left, err := s.Results(ctx, store.ResultFilter{})
	check(t, err)
	equal(t, refs(left), []string{"r_000009", "r_000007", "r_000005", "r_000003", "r_000001"})
	check(t, s.SaveResult(ctx, sampleResult(10)))
	_, err = s.Result(ctx, "k0", "r_000010")
	check(t, err)
}

func testTrimOwner(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	for i := range 40 {
		r := sampleResult(i)
		if r.Body = bytes.Repeat([]byte("x"), 10_000); i%2 == 1 {
			r.Body = []byte("{}")
		}
		check(t, s.SaveResult(ctx, r))
	}
	deleted, err := s.TrimResults(ctx, store.ResultLimits{Owner: 55_000})
	check(t, err)
	equal(t, deleted, 15)
	left, err := s.Results(ctx, store.ResultFilter{Owner: "k0"})
	check(t, err)
	equal(t, refs(left), []string{"r_000038", "r_000036", "r_000034", "r_000032", "r_000030"})
	left, err = s.Results(ctx, store.ResultFilter{Owner: "k1"})
	check(t, err)
	equal(t, len(left), 20)
}

func testTrimTotal(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	const limit, n = 800_000, 200
	for i := range n {
		r := sampleResult(i)
		r.Body = bytes.Repeat([]byte("x"), 10_000)
		check(t, s.SaveResult(ctx, r))
		if i%10 == 0 {
			_, err := s.TrimResults(ctx, store.ResultLimits{Total: limit})
			check(t, err)
		}
	}
	_, err := s.TrimResults(ctx, store.ResultLimits{Total: limit})
	check(t, err)
	left, err := s.Results(ctx, store.ResultFilter{Limit: 1000})
	check(t, err)
	if len(left) < 65 || len(left) > 80 {
		t.Fatalf("%d results of 10 kB stay within %d bytes", len(left), limit)
	}
	for i, r := range left {
		equal(t, r.Ref, sampleResult(n-1-i).Ref)
	}
}
