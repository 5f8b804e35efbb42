package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Permission is what the policy wants before a call is sent, beside the rules themselves.
type Permission struct {
	Request  *Request
	Tool     policy.Tool
	Args     json.RawMessage // exactly what the server will get
	Decision *policy.Decision

	rec   *recording
	after time.Duration // when the call goes on without its request; 0: never
}

// permit asks the policy about what is about to be sent. For what was permitted once in a call, nobody is asked again and nothing is
// counted again; but rules that deny it by now do: the call may have waited for days.
func (c *Caller) permit(ctx context.Context, view *catalog.View, req *Request, rec *recording, p Permission) error {
	if !view.Ruled() {
		return rec.passed(ctx)
	}
	set, about := view.Policy(req.Principal, p.Tool, orNone(p.Args), c.opts.Now())
	d := set.Decide(about)
	rec.decided(&d)
	if d.Verdict == policy.Deny {
		return Denied(&d, p.Tool)
	}
	sum := sha256.Sum256(append([]byte(p.Tool.Name+"\x00"), p.Args...))
	asked := hex.EncodeToString(sum[:])
	if rec.permitted == asked {
		return nil
	}
	p.Request = req
	p.Decision = &d
	p.rec = rec
	rec.approved = Approved{} // what was sent before, and did not act, has its own
	if d.Verdict == policy.Approve {
		if c.opts.Approve == nil {
			return fault.New(fault.Denied, "%s needs a person's approval, and nobody can be asked here", p.Tool.Name)
		}
		var err error
		rec.approved, err = c.opts.Approve(ctx, &p)
		if err == nil {
			err = c.stillPermitted(req, &p)
		}
		if err != nil {
			return err
		}
		rec.applied("approved by " + strings.ReplaceAll(rec.approved.By, ",", "")) // which separates rules
	}
	if err := c.count(ctx, &p, rec); err != nil {
		if rec.approved.Return != nil { // for when the limit permits the call
			err = errors.Join(err, rec.approved.Return(ctx))
		}
		return err
	}
	rec.permitted = asked
	return rec.passed(ctx)
}

// stillPermitted asks the policy as it is now: somebody may have denied such calls while this one waited for a person.
func (c *Caller) stillPermitted(req *Request, p *Permission) error {
	view, err := c.tools.View(req.Profile)
	if err != nil || !view.Ruled() {
		return err
	}
	set, about := view.Policy(req.Principal, p.Tool, orNone(p.Args), c.opts.Now())
	if d := set.Decide(about); d.Verdict == policy.Deny {
		p.rec.decided(&d)
		return Denied(&d, p.Tool)
	}
	return nil
}

// orDenied replaces an error about arguments where the call is denied whatever they are: the caller need not mend them.
func (c *Caller) orDenied(s *sent, req *Request, rec *recording, err error) error {
	if !s.view.Ruled() || s.entry.Own {
		return err
	}
	d := s.view.Decide(req.Principal, s.entry, nil, c.opts.Now())
	if d.Verdict != policy.Deny {
		return err
	}
	rec.decided(&d)
	return Denied(&d, s.entry.PolicyTool())
}

// Denied is the error for a call that the policy denies. It says what the rule says, and not its name: a model could only
// try to get around it.
func Denied(d *policy.Decision, t policy.Tool) error {
	if d.Rule != nil && d.Rule.Say != "" {
		return fault.New(fault.Denied, "%s", d.Rule.Say)
	}
	return fault.New(fault.Denied, "the policy does not permit this call of %s", t.Name)
}

// Permit asks the policy about a prompt or a resource; nil args are not known yet.
func Permit(view *catalog.View, who access.Principal, t policy.Tool, args json.RawMessage, now time.Time) error {
	d, refused := view.DecideBeside(who, t, args, now)
	switch {
	case !refused:
		return nil
	case d.Verdict == policy.Deny:
		return Denied(&d, t)
	}
	return fault.New(fault.Denied, "%s needs a person's approval, which only calls of tools can get", t.Name)
}

// PermitResource asks the policy about a resource, by its server's own URI. Who may not have a skill may not have its files.
func PermitResource(v *catalog.View, who access.Principal, server tool.ServerID, uri string, now time.Time) error {
	if skill := v.SkillOf(server, uri); skill != "" {
		if err := Permit(v, who, catalog.PolicySkill(server), catalog.URIArgs(skill), now); err != nil {
			return err
		}
	}
	return Permit(v, who, catalog.PolicyResource(server), catalog.URIArgs(uri), now)
}

// decided notes in the record what rules have decided, and what those that are only watched would have.
func (r *recording) decided(d *policy.Decision) {
	add := func(what string, rules []*policy.Rule) {
		for _, rule := range rules {
			r.applied(what + " " + rule.Name)
		}
	}
	switch {
	case d.Verdict == policy.Deny && d.Rule == nil:
		r.applied("deny " + ByDefault)
	case d.Verdict == policy.Deny:
		add("deny", d.Denies)
	case d.Verdict == policy.Approve:
		add("approve", d.Asks)
	}
	add("watch", d.Watched)
	if d.Failed != nil {
		text := "Policy: " + errors.Unwrap(d.Failed).Error() // without the rule's name: callers read the messages of their calls
		if !slices.Contains(r.notes, text) {
			r.warn(text)
		}
	}
}

// applied adds to the record what the policy did. Fallbacks and retries are decided about in the same record.
func (r *recording) applied(what string) {
	switch list := strings.Split(r.call.Policy, ", "); {
	case r.call.Policy == "":
		r.call.Policy = what
	case !slices.Contains(list, what):
		r.call.Policy += ", " + what
	}
}

// ByDefault stands in records for the name of a rule where a call was denied because no rule allows it.
const ByDefault = "by default"
