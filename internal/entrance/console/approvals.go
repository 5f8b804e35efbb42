package console

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/approval"
)

// Decisions are questions whether a call may be made.
type Decisions interface {
	ListApprovals(ctx context.Context, who approval.Decider, open bool, of tool.Name) ([]restapi.Approval, error)
	ReadApproval(ctx context.Context, who approval.Decider, id string) (restapi.Approval, error)
	DecideApproval(ctx context.Context, who approval.Decider, id string, d approval.Decision) (restapi.Approval, error)
}

func (c *Console) approvalsSection() section {
	return section{name: "approvals", path: "/approvals", key: "v", linked: true, routes: map[string]handler{
		"GET /approvals":       page("approvals", whole, c.listApprovals),
		"GET /approvals/{id}":  page("approval", whole, c.readApproval),
		"POST /approvals/{id}": c.decideApproval,
	}}
}

// decider is the visitor, and whether they are a person who has signed in at an identity provider: a token or a key in a
// header or a cookie may be a program's.
func (c *Console) decider(v *visit) approval.Decider {
	d := approval.Decider{Principal: v.who}
	if cookie, err := v.Cookie(signInCookie); err == nil {
		person := c.seals.person.open(v.Request, cookie.Value)
		d.OnPage = person != "" && person == v.who.ID
	}
	return d
}

type approvalsPage struct{ Open, Past []restapi.Approval }

func (c *Console) listApprovals(v *visit) (p approvalsPage, err error) {
	if p.Open, err = c.Decisions.ListApprovals(v.Context(), c.decider(v), true, ""); err != nil {
		return p, err
	}
	p.Past, err = c.Decisions.ListApprovals(v.Context(), c.decider(v), false, "")
	p.Past = slices.DeleteFunc(p.Past, func(a restapi.Approval) bool { return a.State == "open" })
	return p, err
}

type approvalPage struct {
	restapi.Approval
	Values []argument
	More   bool // there are values that only Raw has
	Raw    block
	Past   []restapi.Approval // about the same tool
}

// argument is a value as a person reads it, in a tree.
type argument struct {
	Name  string
	Text  string
	Long  bool // it is folded
	Inner []argument
}

const (
	shortText    = 300 // characters that are not folded
	maxDepth     = 8   // deeper values are shown as JSON
	pastShown    = 5
	maxArguments = 2000
)

func (c *Console) readApproval(v *visit) (p approvalPage, err error) {
	if p.Approval, err = c.Decisions.ReadApproval(v.Context(), c.decider(v), v.PathValue("id")); err != nil {
		return p, err
	}
	left := maxArguments
	p.Values = treeOf(p.Arguments, 0, &left)
	p.More = left < 0
	p.Raw = codeUpTo(text(v.lang, "approval.json"), p.Arguments, maxWhole)
	past, err := c.Decisions.ListApprovals(v.Context(), c.decider(v), false, p.Tool)
	for _, one := range past {
		if one.ID != p.ID && !one.Decided.IsZero() && len(p.Past) < pastShown {
			p.Past = append(p.Past, one)
		}
	}
	return p, err
}

// treeOf are the members of an object or a list; left bounds how many there are in all.
func treeOf(raw json.RawMessage, depth int, left *int) (out []argument) {
	add := func(name string, value json.RawMessage) {
		if *left--; *left < 0 {
			return
		}
		one := argument{Name: name}
		if depth < maxDepth {
			one.Inner = treeOf(value, depth+1, left)
		}
		if one.Inner == nil {
			var isText bool
			if one.Text, isText = rawjson.String(value); !isText {
				one.Text = string(value)
			}
			one.Long = utf8.RuneCountInString(one.Text) > shortText
		}
		out = append(out, one)
	}
	switch {
	case len(raw) == 0:
	case raw[0] == '{':
		for w := rawjson.Object(raw); w.Next(); {
			add(string(w.Key), w.Value)
		}
	case raw[0] == '[':
		n := 0
		for w := rawjson.Array(raw); w.Next(); {
			n++
			add(strconv.Itoa(n), w.Value)
		}
	}
	return out
}

func (c *Console) decideApproval(v *visit) (answer, error) {
	id := v.PathValue("id")
	decision := v.PostForm.Get("decision")
	if decision != "approve" && decision != "deny" {
		return answer{}, fault.New(fault.BadRequest, "decision is neither approve nor deny")
	}
	d := approval.Decision{Approve: decision == "approve", Reason: v.PostForm.Get("reason")}
	if _, err := c.Decisions.DecideApproval(v.Context(), c.decider(v), id, d); err != nil {
		return answer{}, err
	}
	said := "callDenied"
	if d.Approve {
		said = "callApproved"
	}
	return done("/approvals/"+url.PathEscape(id), said)
}
