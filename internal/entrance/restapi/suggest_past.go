package restapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// maxPast limits the calls that are read, newest first.
	maxPast = 50_000
	// maxPastBytes limits the results in memory; of older ones only the arguments are used.
	maxPastBytes = 64 << 20
	// pause ends a conversation without a session.
	pause = 30 * time.Minute
)

// past is the recorded conversations.
type past struct {
	conversations []suggest.Conversation
	blind         int         // conversations with calls whose arguments were not kept
	tools         []tool.Name // that have results
}

type handle struct{ owner, ref string }

// readPast joins calls, which tell conversations and fetches, with stored results, which have
// arguments and bodies.
func (a *API) readPast(ctx context.Context, since time.Time) (past, error) {
	calls, err := a.pastCalls(ctx, since)
	if err != nil {
		return past{}, err
	}
	kept, err := a.pastResults(ctx, since)
	if err != nil {
		return past{}, err
	}
	fetched := map[handle][]string{}
	for _, c := range calls {
		if masks, ok := strings.CutPrefix(c.Message, call.Fetched); ok && c.Tool == call.FetchResult {
			h := handle{c.Principal, c.Ref}
			fetched[h] = append(fetched[h], masks)
		}
	}
	var p past
	names := map[tool.Name]bool{}
	for _, talk := range conversations(calls) {
		var calls suggest.Conversation
		blind := false
		for _, c := range talk {
			r, ok := kept[c.ID]
			switch {
			case ok:
				calls = append(calls, suggest.Call{Tool: c.Tool, Args: r.Args, Result: r.Body,
					Fetched: fetched[handle{c.Principal, r.Ref}]})
				names[c.Tool] = true
			case c.Tool != call.FetchResult && c.BytesIn > int64(len("{}")):
				blind = blind || len(calls) > 0 // what came first cannot have used anything
			}
		}
		if len(calls) == 0 {
			continue
		}
		p.conversations = append(p.conversations, calls)
		if blind {
			p.blind++
		}
	}
	for name := range names {
		p.tools = append(p.tools, name)
	}
	slices.Sort(p.tools)
	return p, nil
}

// pastCalls reads the calls, oldest first.
func (a *API) pastCalls(ctx context.Context, since time.Time) ([]store.Call, error) {
	var all []store.Call
	f := store.CallFilter{Since: since, Limit: maxPage}
	for len(all) < maxPast {
		page, err := a.Store.Calls(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < maxPage {
			break
		}
		f.Before = page[len(page)-1].ID
	}
	slices.Reverse(all)
	return all, nil
}

// pastResults reads the stored results, by call.
func (a *API) pastResults(ctx context.Context, since time.Time) (map[string]store.Result, error) {
	kept := map[string]store.Result{}
	size := 0
	err := eachResult(ctx, a.Store, since, func(r *store.Result) error {
		if r.Err != nil || len(kept) >= maxPast {
			return nil
		}
		size += len(r.Body)
		if size > maxPastBytes {
			r.Body = nil
		}
		kept[r.Call] = *r
		return nil
	})
	return kept, err
}

// conversations groups calls by session, or else by caller and time.
func conversations(calls []store.Call) (talks [][]store.Call) {
	at := map[string]int{}
	last := map[string]time.Time{}
	for _, c := range calls {
		key := cmp.Or(c.Session, c.MCPSession)
		id := c.Principal + "\x00" + key
		if n, known := at[id]; known && (key != "" || c.At.Sub(last[id]) < pause) {
			talks[n] = append(talks[n], c)
		} else {
			at[id] = len(talks)
			talks = append(talks, []store.Call{c})
		}
		last[id] = c.At
	}
	return talks
}
