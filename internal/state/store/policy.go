package store

import (
	"context"
	"time"
)

// PolicyHits is how many calls of one day have the same text in Call.Policy.
type PolicyHits struct {
	Policy string
	Day    time.Time // its beginning, in UTC
	Calls  int64
}

// PolicyHits counts the calls since a time that rules of the policy applied to.
func (s *Store) PolicyHits(ctx context.Context, since time.Time) ([]PolicyHits, error) {
	const day = int64(24 * time.Hour / time.Microsecond)
	var w where
	w.is("policy <> ''") // as the index says it
	w.span(&CallFilter{Since: since})
	read := func(scan scanner, h *PolicyHits) error {
		var number int64
		err := scan(&h.Policy, &number, &h.Calls)
		h.Day = fromMicros(number * day)
		return err
	}
	query := "SELECT policy, at / " + w.value(day) + ", count(*) FROM calls" + s.dialect.by("calls_by_policy") + w.String() + " GROUP BY 1, 2"
	return list(ctx, s, "count what the policy did", read, query, w.args...)
}
