package restapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SavingsList is what tools cost, and what was saved.
type SavingsList struct {
	By      store.SavingKey `json:"by"`
	Count   tokens.Label    `json:"count"` // how tokens were counted
	Of      string          `json:"of"`    // calls: all that are recorded; results: those kept, by the rules in force now
	Left    int64           `json:"left,omitempty"`
	Total   Savings         `json:"total"`
	Savings []Savings       `json:"savings"`
}

// Savings are the tokens of some calls.
type Savings struct {
	Key        string  `json:"key"` // "" in a list by rule: no rule
	Calls      int64   `json:"calls"`
	Definition int64   `json:"tokens_definition,omitempty"` // of the tool, or of the profile's list, as it is now
	TokensIn   int64   `json:"tokens_in"`                   // of arguments
	TokensFull int64   `json:"tokens_full"`                 // of results as servers gave them
	TokensSent int64   `json:"tokens_sent"`                 // of results as sent on
	Saved      float64 `json:"saved"`                       // the share of full that was not sent
	Shadow     bool    `json:"shadow,omitempty"`            // of a shadow rule: what it would have saved; not in the total
}

func (s *Savings) add(more Savings) {
	s.Calls += more.Calls
	s.TokensIn += more.TokensIn
	s.TokensFull += more.TokensFull
	s.TokensSent += more.TokensSent
	s.share()
}

func (s *Savings) share() {
	s.Saved = 0
	if s.TokensFull > 0 {
		s.Saved = 1 - float64(s.TokensSent)/float64(s.TokensFull)
	}
}

// savings sums up what was not sent to models: estimated from the records of calls, or counted from
// stored results.
func (a *API) savings(r *request) (any, error) {
	if !r.who.MayRead() {
		return nil, r.who.Forbidden("%s may not read what others have saved")
	}
	a.flush(r.Context())
	q := r.query
	label, err := parseCount(q.Get("count"), tokens.Estimated)
	if err != nil {
		return nil, err
	}
	since, err := parseTime(q, "since")
	if err != nil {
		return nil, err
	}
	list := SavingsList{By: cmp.Or(store.SavingKey(q.Get("by")), store.ByTool), Count: label, Of: "calls", Savings: []Savings{}}
	if label == tokens.Estimated {
		err = a.estimateSavings(r.Context(), &list, since)
	} else {
		err = a.countSavings(r.Context(), &list, since)
	}
	if err != nil {
		return nil, err
	}
	for i := range list.Savings {
		list.Savings[i].Definition = a.definition(list.By, list.Savings[i].Key)
		list.Savings[i].share()
		if !list.Savings[i].Shadow { // else its calls are in another row already
			list.Total.add(list.Savings[i])
		}
	}
	return list, nil
}

func (a *API) estimateSavings(ctx context.Context, list *SavingsList, since time.Time) error {
	rows, err := a.Store.Savings(ctx, list.By, since)
	for _, row := range rows {
		list.Savings = append(list.Savings, Savings{
			Key: row.Key, Calls: row.Calls, TokensIn: row.TokensIn, TokensFull: row.TokensFull, TokensSent: row.TokensSent,
			Shadow: row.Shadow,
		})
	}
	return err
}

// countSavings counts stored results, newest first, up to the limit of one request.
func (a *API) countSavings(ctx context.Context, list *SavingsList, since time.Time) error {
	keyOf := map[store.SavingKey]func(*store.Result) string{
		store.ByTool:    func(r *store.Result) string { return string(r.Tool) },
		store.ByProfile: func(r *store.Result) string { return r.Profile },
		store.ByRule:    func(r *store.Result) string { return r.Rule },
		store.ByDay:     func(r *store.Result) string { return r.At.UTC().Format(time.DateOnly) },
	}[list.By]
	if keyOf == nil {
		_, err := a.Store.Savings(ctx, list.By, since) // it says which keys there are
		return err
	}
	list.Of = "results"
	sums := map[Savings]*Savings{} // by key and shadow
	room := maxExact
	err := eachResult(ctx, a.Store, since, func(r *store.Result) error {
		if r.Err != nil || 2*len(r.Body) > room {
			list.Left++
			return nil
		}
		room -= 2 * len(r.Body)
		rows, err := a.countOne(ctx, r, list.By == store.ByRule)
		if fault.Is(err, fault.NotFound) { // its profile is gone
			list.Left++
			return nil
		}
		for _, row := range rows {
			if !row.Shadow {
				row.Key = keyOf(r)
			}
			at := Savings{Key: row.Key, Shadow: row.Shadow}
			if sums[at] == nil {
				sums[at] = &Savings{Key: row.Key, Shadow: row.Shadow}
			}
			sums[at].add(row)
		}
		return err
	})
	for _, s := range sums {
		list.Savings = append(list.Savings, *s)
	}
	slices.SortFunc(list.Savings, func(x, y Savings) int {
		if x.Shadow == y.Shadow {
			return cmp.Compare(x.Key, y.Key)
		}
		if y.Shadow {
			return -1
		}
		return 1
	})
	return err
}

// countOne counts a stored result, optionally with what a shadow rule would leave.
func (a *API) countOne(ctx context.Context, r *store.Result, shadow bool) ([]Savings, error) {
	n, err := a.count(ctx, *r, tokens.O200k)
	if err != nil {
		return nil, err
	}
	in := tokens.Count(string(r.Args))
	one := Savings{Calls: 1, TokensIn: int64(in), TokensFull: int64(n.Full), TokensSent: int64(n.Sent)}
	if !shadow {
		return []Savings{one}, nil
	}
	rule, shown, err := a.Caller.Shadowed(ctx, *r)
	if err != nil || rule == "" {
		return []Savings{one}, err
	}
	would := one
	would.Key = rule
	would.Shadow = true
	would.TokensSent = int64(project.CountTokens(shown, tokens.Count))
	return []Savings{one, would}, nil
}

// eachResult visits stored results, newest first.
func eachResult(ctx context.Context, st *store.Store, since time.Time, visit func(*store.Result) error) error {
	f := store.ResultFilter{Since: since, Limit: 200}
	for {
		page, err := st.Results(ctx, f)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if err := visit(&page[i]); err != nil {
				return err
			}
		}
		f.Before = page[len(page)-1].Cursor()
	}
}

// definition is the cost of a profile's list, or of a tool in the first list that has it.
func (a *API) definition(by store.SavingKey, key string) int64 {
	switch by {
	case store.ByProfile:
		if v, err := a.Catalog.View(key); err == nil {
			return int64(tokens.Estimate(v.List()))
		}
	case store.ByTool:
		for _, p := range a.Config().Profiles {
			if v, err := a.Catalog.View(p.Name); err == nil {
				if e := v.Named(tool.Name(key)); e != nil {
					return int64(tokens.Estimate(e.Raw()))
				}
			}
		}
	}
	return 0
}
