package restapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
)

// SuggestionList is rules that the recorded calls suggest.
type SuggestionList struct {
	Conversations int          `json:"conversations"` // that are on record
	Blind         int          `json:"blind"`         // of these, such with calls whose arguments were not kept
	Count         tokens.Label `json:"count"`
	Suggestions   []Suggestion `json:"suggestions"`
	None          []NotLearned `json:"none"`
}

// NotLearned says why nothing is suggested for calls of a tool.
type NotLearned struct {
	Tool tool.Name      `json:"tool"`
	When map[string]any `json:"when,omitempty"`
	Why  string         `json:"why"`
}

// Suggestion is a suggested rule, for a person to decide on.
type Suggestion struct {
	Tool          tool.Name       `json:"tool"`
	When          map[string]any  `json:"when,omitempty"`
	Keep          string          `json:"keep"`
	Stage         suggest.Stage   `json:"stage"`
	Text          string          `json:"text"`
	Saved         float64         `json:"saved"`
	TokensFull    int             `json:"tokens_full"`
	TokensSent    int             `json:"tokens_sent"`
	Conversations int             `json:"conversations"`        // replayed
	Hidden        int             `json:"hidden"`               // values that were used later and would have been hidden
	Missed        int             `json:"missed"`               // conversations in which that would have happened
	HeldOut       int             `json:"held_out"`             // such conversations, each half judged by what was learned from the other
	DropsText     string          `json:"drops_text,omitempty"` // the longest text that is left out: such a rule is not offered to be on
	Fields        []SuggestedPath `json:"fields"`
}

// SuggestedPath says why a part of results is kept or not.
type SuggestedPath struct {
	Path  string  `json:"path"`
	Kept  bool    `json:"kept"`
	Share float64 `json:"share"` // of the bytes
	Why   string  `json:"why"`
}

func (a *API) suggestions(q *request) (any, error) {
	since, err := parseTime(q.query, "since")
	if err != nil {
		return nil, err
	}
	a.flush(q.Context())
	return a.Suggest(q.Context(), q.who, SuggestQuery{Tool: tool.Name(q.query.Get("tool")), Since: since})
}

// SuggestQuery selects the calls to learn from.
type SuggestQuery struct {
	Tool  tool.Name // "": every one that has kept results
	Since time.Time // zero: 30 days ago
}

// Suggest suggests rules from recorded calls. It reads all of them, which takes a while.
func (a *API) Suggest(ctx context.Context, who access.Principal, in SuggestQuery) (SuggestionList, error) {
	if !who.MayRead() {
		return SuggestionList{}, who.Forbidden("%s may not read what others called")
	}
	if in.Since.IsZero() {
		in.Since = time.Now().Add(-suggestFrom)
	}
	past, err := a.readPast(ctx, in.Since)
	if err != nil {
		return SuggestionList{}, err
	}
	list := SuggestionList{
		Conversations: len(past.conversations), Blind: past.blind, Count: tokens.Estimated, Suggestions: []Suggestion{}, None: []NotLearned{},
	}
	names := past.tools
	if in.Tool != "" {
		names = []tool.Name{in.Tool}
	}
	for _, name := range names {
		proposals, none := suggest.Propose(name, past.conversations, &suggest.Options{Inputs: a.inputs(name)})
		for _, n := range none {
			list.None = append(list.None, NotLearned(n))
		}
		for _, p := range proposals {
			if p.Stage == suggest.OfferOn && past.blind*10 > len(past.conversations) {
				p.Stage = suggest.Shadow // what was not seen may have used what would be hidden
			}
			list.Suggestions = append(list.Suggestions, showSuggestion(p))
		}
	}
	return list, nil
}

// suggestFrom is how far back calls are read.
const suggestFrom = 30 * 24 * time.Hour

func showSuggestion(p suggest.Proposal) Suggestion {
	s := Suggestion{
		Tool: p.Tool, When: p.When, Keep: p.Keep, Stage: p.Stage, Text: p.String(), Saved: p.Saved(), TokensFull: p.Full,
		TokensSent:    p.Sent,
		Conversations: p.Conversations, Hidden: p.Hidden, Missed: p.Missed, HeldOut: p.HeldOut, DropsText: p.DropsText,
		Fields: []SuggestedPath{},
	}
	for _, f := range p.Fields {
		s.Fields = append(s.Fields, SuggestedPath(f))
	}
	return s
}

// inputs are the argument names of the server's tools: a list often gives what the next call needs.
func (a *API) inputs(name tool.Name) (names []string) {
	for _, p := range a.Config().Profiles {
		v, err := a.Catalog.View(p.Name)
		if err != nil {
			continue
		}
		e := v.Named(name)
		if e == nil {
			continue
		}
		for _, sister := range v.Entries {
			if sister.Server != e.Server {
				continue
			}
			for w := rawjson.Object(rawjson.Get(sister.Definition.InputSchema(), "properties")); w.Next(); {
				names = append(names, string(w.Key))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RuleID is made of tool and kind of call, so that a later suggestion replaces the rule.
func (s Suggestion) RuleID() string {
	id := "learned-" + string(s.Tool)
	for _, name := range slices.Sorted(maps.Keys(s.When)) {
		id += fmt.Sprintf("-%v", s.When[name])
	}
	return RuleID(id)
}

func (s Suggestion) RuleConfig(mode project.Mode) ([]byte, error) {
	return json.Marshal(struct {
		Tool tool.Name      `json:"tool"`
		When map[string]any `json:"when,omitempty"`
		Keep string         `json:"keep"`
		Mode project.Mode   `json:"mode"`
	}{s.Tool, s.When, s.Keep, mode})
}

// RuleID makes a valid id of a text, with a hash for what was replaced.
func RuleID(text string) string {
	id := strings.TrimLeft(oddInID.ReplaceAllString(text, "-"), "-._")
	if id == text && id != "" && len(id) <= 100 {
		return id
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s-%x", cmp.Or(id[:min(len(id), 100)], "rule"), sum[:4])
}

var oddInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
