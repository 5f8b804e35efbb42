package restapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ToolHistory is the definitions of a tool, the newest first.
type ToolHistory struct {
	Versions []ToolVersion `json:"versions"`
}

// ToolVersion is what a server has listed as a tool for some time.
type ToolVersion struct {
	Hash       string          `json:"hash"`
	Definition json.RawMessage `json:"definition"` // as received
	Tokens     int             `json:"tokens"`     // estimated
	Since      time.Time       `json:"since,omitzero"`
	Until      time.Time       `json:"until,omitzero"`   // zero: it is listed now
	State      string          `json:"state,omitempty"`  // approved, kept_out or held; "": nobody has decided
	By         string          `json:"by,omitempty"`     // who has decided
	Decided    time.Time       `json:"decided,omitzero"` // when
}

// History returns the definitions that a tool has and had, as its server listed them. What was never approved is among them, so it
// is for those who may read what is held.
func (a *API) History(ctx context.Context, who access.Principal, profile, name string) (ToolHistory, error) {
	h := ToolHistory{Versions: []ToolVersion{}}
	if !who.MayRead() {
		return h, who.Forbidden("%s may not read the definitions that a tool had")
	}
	_, r, err := a.rowOf(who, profile, name)
	if err != nil || r.Server == "" {
		return h, err
	}
	found, err := a.Store.Definitions(ctx, r.Server, r.Definition.Name)
	for _, d := range found {
		v := ToolVersion{Hash: d.Hash, Definition: d.Raw, Tokens: tokens.Estimate([]byte(d.Raw)), Since: d.Since, Until: d.Until}
		switch {
		case d.Decision != nil:
			v.State, v.Decided = d.Decision.Verdict, d.Decision.At
			v.By = a.nameOf(ctx, d.Decision.By)
		case d.Until.IsZero() && r.Why == catalog.NotApproved:
			v.State = "held"
		}
		h.Versions = append(h.Versions, v)
	}
	return h, err
}

// nameOf is the name of a principal that was here once; its id if that is all that is left.
func (a *API) nameOf(ctx context.Context, id string) string {
	if k, err := a.Store.Key(ctx, id); err == nil && k.ID == id {
		return k.Name
	}
	if p, err := a.Store.FindPerson(ctx, id); err == nil && p.ID == id {
		return p.Name
	}
	return id
}

func (a *API) toolHistory(q *request) (any, error) {
	return a.History(q.Context(), q.who, q.query.Get("profile"), q.PathValue("name"))
}
