package catalog

import (
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Ruled tells whether there are rules about calls in the profile. The zero view has nothing to rule about.
func (v *View) Ruled() bool { return v.frame != nil && (v.frame.policy != nil || v.frame.Closed) }

// Policy is what the policy is asked about a tool of another service, or about arguments that are not known yet.
func (v *View) Policy(who access.Principal, t policy.Tool, args json.RawMessage, now time.Time) (*policy.Set, *policy.Call) {
	return v.frame.policy, &policy.Call{Profile: v.Profile, Closed: v.frame.Closed, Who: Caller(who), Tool: t, Args: args, Now: now}
}

// Decide decides about a call with arguments as the server gets them. Our own tools are always allowed: what they call is
// decided about.
func (v *View) Decide(who access.Principal, e *Entry, args json.RawMessage, now time.Time) policy.Decision {
	if e.Own || !v.Ruled() {
		return policy.Decision{Verdict: policy.Allow}
	}
	set, call := v.Policy(who, e.PolicyTool(), args, now)
	return set.Decide(call)
}

// Caller is a principal as rules see it.
func Caller(who access.Principal) policy.Who {
	w := policy.Who{ID: who.ID, Name: who.Name, Kind: string(who.Kind), Role: string(who.Role)}
	if who.Token != nil {
		w.Client, w.Groups, w.Scopes = who.Token.Client, who.Token.Groups, who.Token.Scopes
	}
	return w
}

// DecideBeside decides about a prompt, a resource or a skill. Such requests do not wait for a person, so that what needs an approval is
// refused; limits and repeats count calls of tools only.
func (v *View) DecideBeside(who access.Principal, t policy.Tool, args json.RawMessage, now time.Time) (d policy.Decision, refused bool) {
	if !v.Ruled() {
		return policy.Decision{Verdict: policy.Allow}, false
	}
	set, call := v.Policy(who, t, args, now)
	d = set.Decide(call)
	return d, refuses(&d)
}

func refuses(d *policy.Decision) bool { return d.Verdict == policy.Deny || len(d.Asks) > 0 }

// PolicyPrompt is a prompt as rules see it: it only reads.
func (e *Entry) PolicyPrompt() policy.Tool {
	return policy.Tool{Name: e.Name, Server: e.Server, Kind: "prompt", ReadOnly: true, Idempotent: true, OpenWorld: true}
}

// PolicyResource is a resource of a server as rules see it: it is only read.
func PolicyResource(server tool.ServerID) policy.Tool {
	name := tool.Canonical(server, "resource")
	return policy.Tool{Name: name, Server: server, Kind: "resource", ReadOnly: true, Idempotent: true, OpenWorld: true}
}

// PolicySkill is a skill of a server as rules see it: it is only read.
func PolicySkill(server tool.ServerID) policy.Tool {
	t := PolicyResource(server)
	t.Name = tool.Canonical(server, "skill")
	t.Kind = "skill"
	return t
}

// URIArgs are the params of a request about a resource or a skill, and its arguments for rules.
func URIArgs(uri string) json.RawMessage {
	return append(rawjson.AppendString([]byte(`{"uri":`), uri), '}')
}

// PolicyTool is the tool as rules see it. Hints that are missing are the protocol's defaults.
func (e *Entry) PolicyTool() policy.Tool { return policyTool(e.Server, e.Name, e.Definition) }

func policyTool(server tool.ServerID, name tool.Name, def tool.Definition) policy.Tool {
	hints := rawjson.Get(def.Raw, "annotations")
	hint := func(name string) *bool {
		switch text := string(rawjson.Get(hints, name)); text {
		case "true", "false":
			is := text == "true"
			return &is
		}
		return nil
	}
	h := policy.Hints{
		ReadOnly: hint("readOnlyHint"), Destructive: hint("destructiveHint"), Idempotent: hint("idempotentHint"),
		OpenWorld: hint("openWorldHint"),
	}
	return h.Of(policy.Tool{Name: name, Server: server, Kind: "tool"})
}

// UnknownTool is a tool of which nothing is known but its name.
func UnknownTool(server tool.ServerID, name string) policy.Tool {
	return new(policy.Hints).Of(policy.Tool{Name: tool.Canonical(server, name), Server: server, Kind: "tool"})
}
