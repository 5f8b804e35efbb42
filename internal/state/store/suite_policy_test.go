package store_test

import (
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func testPolicyHits(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	var calls []store.Call
	for i, text := range []string{"", "deny a", "deny a, watch b", "deny a", "approve B, watch a.a", "deny by default", "watch _"} {
		c := sampleCall(i)
		c.At = noon.Add(-time.Duration(i) * 6 * time.Hour)
		c.ID = string(store.AppendCallTime(nil, c.At)) + "x"
		c.Policy = text
		calls = append(calls, c)
	}
	check(t, s.AppendCalls(ctx, calls))
	for name, want := range map[string][]string{
		"a": {calls[1].ID, calls[2].ID, calls[3].ID}, "b": {calls[2].ID}, "B": {calls[4].ID}, "by default": {calls[5].ID}, "_": {calls[6].ID},
		"%": nil, "x": nil,
	} {
		got, err := s.Calls(ctx, store.CallFilter{Policy: name})
		check(t, err)
		equal(t, ids(got), want)
	}
	hits, err := s.PolicyHits(ctx, noon.Add(-20*time.Hour))
	check(t, err)
	sums := map[store.PolicyHits]int64{}
	for _, h := range hits {
		n := h.Calls
		h.Calls = 0
		sums[h] = n
	}
	today := noon.Truncate(24 * time.Hour)
	equal(t, sums, map[store.PolicyHits]int64{
		{Policy: "deny a", Day: today}: 1, {Policy: "deny a, watch b", Day: today}: 1, {Policy: "deny a", Day: today.AddDate(0, 0, -1)}: 1,
	})
}
