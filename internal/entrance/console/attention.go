package console

import (
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// concern is something that a person should look at, and can.
type concern struct {
	Tone string // of a badge
	Kind string // said as console.concern.kind.KIND
	Text string
	Why  string // "": the text says it all; may be another's words
	Step string // what to do is console.concern.step.STEP
	Path string // where
}

const (
	// concernsShown is how many of a kind are listed one by one.
	concernsShown = 4
	// redFor is how long a failed test run is a concern, redAmong how many runs are looked at: all that are kept.
	redFor, redAmong = 7 * 24 * time.Hour, 1000
)

// concerns are what needs the visitor's attention, the most severe first: what does not work, who waits, what should be looked at.
func (c *Console) concerns(v *visit, servers []restapi.Server) (all []concern, err error) {
	signIns, waiting, err := c.signInConcerns(v)
	if err != nil {
		return nil, err
	}
	decisions, err := c.decisionConcerns(v)
	if err != nil {
		return nil, err
	}
	agents, err := c.agentConcerns(v)
	if err != nil {
		return nil, err
	}
	var down, held []concern
	for _, s := range servers {
		path := "/servers/" + url.PathEscape(string(s.ID))
		if s.State == "down" && !waiting[string(s.ID)] {
			down = append(down, concern{"bad", "down", text(v.lang, "concern.down", string(s.ID)), s.Reason, "server", path})
		}
		if len(s.Held) > 0 && v.who.MayAdmin() {
			held = append(held, concern{"warn", "held", text(v.lang, "concern.held", string(s.ID), len(s.Held)), "", "review", path + "#held"})
		}
	}
	rules, err := c.ruleConcerns(v)
	if err != nil {
		return nil, err
	}
	runs, err := c.runConcerns(v)
	if err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		list []concern
		path string // of all of them
	}{
		{down, "/servers"}, {decisions, "/approvals"}, {signIns, "/connections"}, {agents, "/environments#agents"}, {held, "/servers"},
		{rules, "/results/rules"}, {runs, "/runs?outcome=" + trial.Failed},
	} {
		all = append(all, c.fewOf(v, kind.list, kind.path)...)
	}
	return all, nil
}

// fewOf are the first of a kind, and how many more there are.
func (c *Console) fewOf(v *visit, list []concern, path string) []concern {
	if more := len(list) - concernsShown; more > 1 {
		rest := list[concernsShown]
		list = append(list[:concernsShown:concernsShown], concern{rest.Tone, rest.Kind, text(v.lang, "concern.more", more), "", "all", path})
	}
	for i := range list {
		list[i].Path = c.at(list[i].Path)
	}
	return list
}

// signInConcerns are the servers that the visitor has to sign in to.
func (c *Console) signInConcerns(v *visit) (all []concern, of map[string]bool, err error) {
	of = map[string]bool{}
	found, err := c.Connections.ListConnections(v.Context(), v.who, false)
	for _, one := range found {
		if one.State == store.Ready || !maySignIn(v.who, one) {
			continue
		}
		said := text(v.lang, "concern.signIn", string(one.Server))
		if one.As == config.AsGateway {
			said = text(v.lang, "concern.signInForAll", string(one.Server))
		}
		of[string(one.Server)] = true
		all = append(all, concern{"bad", "signIn", said, one.Reason, "signIn", connectPath(one.Server)})
	}
	return all, of, err
}

// decisionConcerns are the calls that wait for the visitor's yes.
func (c *Console) decisionConcerns(v *visit) (all []concern, err error) {
	open, err := c.Decisions.ListApprovals(v.Context(), c.decider(v), true, "")
	for _, one := range open {
		if one.May {
			said := text(v.lang, "concern.approval", one.Name, string(one.Tool))
			all = append(all, concern{"bad", "approval", said, "", "decide", "/approvals/" + url.PathEscape(one.ID)})
		}
	}
	return all, err
}

func (c *Console) agentConcerns(v *visit) (all []concern, err error) {
	failing, err := c.Activity.FailingAgents(v.Context(), v.who)
	var often []concern
	for _, a := range failing {
		one := concern{"bad", "agent", text(v.lang, "concern.agentOff", a.ID), a.Reason, "agents", "/environments#agents"}
		if a.Silent {
			one.Text = text(v.lang, "concern.agentSilent", a.ID)
		}
		if a.Silent && v.who.MayCall() {
			one.Step = "ask"
			one.Path = "/chat?agent=" + url.QueryEscape(a.ID)
		}
		if a.Failed == 0 {
			all = append(all, one)
			continue
		}
		said := text(v.lang, "concern.agent", a.ID, a.Failed, a.Calls)
		often = append(often, concern{"warn", "agent", said, "", "calls", "/calls?agent=" + url.QueryEscape(a.ID)})
	}
	return append(all, often...), err
}

// ruleConcerns are the rules for results that were put back to shadow.
func (c *Console) ruleConcerns(v *visit) (all []concern, err error) {
	if !v.who.MayAdmin() {
		return nil, nil
	}
	rules, err := c.Rules.ListRules(v.who)
	for _, r := range rules {
		if r.Source == restapi.FromStore && r.Mode == project.Shadow && r.Reason != "" {
			path := "/results/rules?edit=" + url.QueryEscape(r.ID) + "#edit"
			all = append(all, concern{"warn", "rule", text(v.lang, "concern.rule", r.ID), r.Reason, "review", path})
		}
	}
	return all, err
}

// runConcerns are browser tests whose last run failed.
func (c *Console) runConcerns(v *visit) (all []concern, err error) {
	list, err := c.Runs.ListRuns(v.Context(), v.who, store.RunFilter{Limit: redAmong})
	seen := map[string]bool{}
	for _, r := range list.Runs {
		if r.Outcome == trial.Running || seen[r.Name] {
			continue // the one before it is the last that has ended
		}
		seen[r.Name] = true
		if r.Outcome == trial.Failed && time.Since(r.At) < redFor {
			said := text(v.lang, "concern.run", r.Name, r.Totals.Failed+r.Totals.Errors, r.Totals.Tests)
			all = append(all, concern{"warn", "run", said, "", "run", "/runs/" + url.PathEscape(r.ID)})
		}
	}
	return all, err
}
