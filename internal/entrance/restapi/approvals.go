package restapi

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Approval is a question whether a call may be made, and what was decided.
type Approval struct {
	ID        string        `json:"id"`
	State     string        `json:"state"`
	Tool      tool.Name     `json:"tool"`
	Server    tool.ServerID `json:"server"`
	Profile   string        `json:"profile"`
	Principal string        `json:"principal"` // who makes the call
	Call      string        `json:"call"`      // the record of the call that asked first
	approval.About
	May     bool      `json:"may_decide"` // the caller may decide it now
	Page    string    `json:"page"`
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"` // of the question; once it is decided, of the decision
	Decided time.Time `json:"decided_at,omitzero"`
	By      string    `json:"decided_by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// maxApprovals is how many questions one answer lists, of the newest in the store: most may be none of the caller's business.
const (
	maxApprovals  = 200
	newestInStore = 1000
)

// ListApprovals lists the questions that the caller may see, the newest first: open ones, or all of a tool ("": any).
func (a *API) ListApprovals(ctx context.Context, who approval.Decider, open bool, of tool.Name) ([]Approval, error) {
	rows, err := a.Store.Approvals(ctx, open, of, newestInStore)
	found := []Approval{}
	for i := range rows {
		if len(found) == maxApprovals {
			break
		}
		if one, ok := a.showApproval(who, &rows[i]); ok {
			found = append(found, one)
		}
	}
	return found, err
}

// showApproval is a question as the caller sees it; false: it is none of its business. Whoever asks, decides or reads all
// records sees it.
func (a *API) showApproval(who approval.Decider, row *store.Approval) (Approval, bool) {
	about, err := approval.Read(row)
	may := err == nil && approval.May(who, row, &about)
	if !may && who.ID != row.Principal && !(who.MayRead() && who.Has(row.Profile)) {
		return Approval{}, false
	}
	return Approval{
		ID: row.ID, State: string(row.State), Tool: row.Tool, Server: row.Server, Profile: row.Profile, Principal: row.Principal,
		Call: row.Call, About: about, May: may && row.State == store.ApprovalOpen, Page: a.ApprovalPage(row.ID), Created: row.Created,
		Expires: row.Expires, Decided: row.Decided, By: row.By, Reason: row.Reason,
	}, true
}

// ReadApproval returns one question.
func (a *API) ReadApproval(ctx context.Context, who approval.Decider, id string) (Approval, error) {
	row, err := a.Store.Approval(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	return a.asShown(who, row)
}

func (a *API) asShown(who approval.Decider, row store.Approval) (Approval, error) {
	one, ok := a.showApproval(who, &row)
	if !ok {
		return one, fault.New(fault.Forbidden, "%s may neither see nor decide this", who.Name).
			WithHint("it is for its approvers, or an administrator")
	}
	return one, nil
}

// DecideApproval approves or denies.
func (a *API) DecideApproval(ctx context.Context, who approval.Decider, id string, d approval.Decision) (Approval, error) {
	row, err := a.Desk.Decide(ctx, who, id, d)
	if err != nil {
		return Approval{}, err
	}
	return a.asShown(who, row)
}

func (a *API) listApprovals(q *request) (any, error) {
	who := approval.Decider{Principal: q.who}
	found, err := a.ListApprovals(q.Context(), who, q.query.Get("open") == "true", tool.Name(q.query.Get("tool")))
	return map[string]any{"approvals": found}, err
}

func (a *API) readApproval(q *request) (any, error) {
	return a.ReadApproval(q.Context(), approval.Decider{Principal: q.who}, q.id())
}

func (a *API) decideApproval(q *request) (any, error) {
	const expected = `{"decision": "approve" or "deny", "reason"}`
	var in struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if err := q.decode(&in, expected); err != nil {
		return nil, err
	}
	if in.Decision != "approve" && in.Decision != "deny" {
		return nil, fault.New(fault.BadRequest, "decision is neither approve nor deny").WithHint("send %s", expected)
	}
	d := approval.Decision{Approve: in.Decision == "approve", Reason: in.Reason}
	return a.DecideApproval(q.Context(), approval.Decider{Principal: q.who}, q.id(), d)
}

// decideSigned takes a decision of the webhook, whose signature stands for a key.
func (a *API) decideSigned(q *request) (any, error) {
	row, err := a.Desk.DecideSigned(q.Context(), q.id(), q.Header, q.body)
	return map[string]string{"id": row.ID, "state": string(row.State)}, err
}
