package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Tools are the tools of ours for agents, by name.
func (l *Lab) Tools() map[string]call.OwnTool {
	return map[string]call.OwnTool{RunSteps: l.runSteps, FindElement: l.findElement}
}

// maxAgentRun is how long the steps of one call may take.
const maxAgentRun = 10 * time.Minute

// runSteps is the tool run_steps. It works in the caller's own browser, which stays open.
func (l *Lab) runSteps(ctx context.Context, req *call.Request, args json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Steps Text              `json:"steps"`
		Base  string            `json:"base_url"`
		Vars  map[string]string `json:"vars"`
		Model string            `json:"model"`
	}
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, fault.New(fault.BadArguments, "the arguments do not fit: %w", err)
	}
	suite, err := ParseText(string(in.Steps))
	if err != nil {
		return result(map[string]any{"passed": false, "error": run.Unreadable(l.newID(), string(in.Steps), err)}, true), nil
	}
	choose, err := l.chooser(req.Principal, in.Model)
	if err != nil {
		return nil, err
	}
	s, free, err := l.callersBrowser(ctx, req)
	if err != nil {
		return nil, err
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, maxAgentRun)
	defer cancel()
	o := Order{Who: req.Principal, Profile: req.Profile, Suites: []*steps.Suite{suite}}
	o.Sources = map[string]string{suite.File: string(in.Steps)}
	o.Options = run.Options{Base: in.Base, Vars: in.Vars, Screenshots: "off", Choose: choose}
	k, lease := l.begin(ctx, &o)
	defer lease.End()
	ctx = lease.Context()
	r := l.runner(s, k.ID, o.Options, func(c run.CaseResult) { l.caseDone(k, suite.File, c) })
	k.Results = []*run.Result{r.Suite(ctx, suite)}
	if err := l.finish(ctx, k); err != nil {
		return nil, err
	}
	return result(told(k), k.Outcome != Passed), nil
}

// writtenFile is what steps that come as text are called, unless they are a Markdown plan.
const writtenFile = "steps.yaml"

// Text is steps in a request: a text, or commands, which stay JSON.
type Text string

func (t *Text) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, (*string)(t))
	case len(b) > 0 && b[0] == '{':
		b = slices.Concat([]byte("["), b, []byte("]"))
	case len(b) == 0 || b[0] != '[':
		return errors.New("steps are a text, a list of commands or one command")
	}
	*t = Text(b)
	return nil
}

// command is a text that is one command rather than a file.
var command = regexp.MustCompile(`^\{\s*"?action"?\s*:`)

// ParseText reads steps: sentences line by line, a Markdown plan, YAML, or commands.
func ParseText(text string) (*steps.Suite, error) {
	name := writtenFile
	data := []byte(text)
	switch trimmed := strings.TrimSpace(text); {
	case strings.HasPrefix(trimmed, "# "):
		name = "steps.md"
	case command.MatchString(trimmed):
		data = []byte("- " + trimmed)
	case isSentences(trimmed):
		data = listed(text)
	}
	suite, err := steps.Parse(name, data, func(path string) ([]byte, error) {
		return nil, errors.New("other files are not read here")
	})
	if err == nil && suite.Serve != "" {
		err = errors.New("serve: folders are not served here")
	}
	return suite, err
}

// listed is sentences as a YAML list in which each stands on the line that it came on.
func listed(sentences string) (list []byte) {
	for line := range strings.Lines(sentences) {
		if line = strings.TrimSpace(line); line != "" {
			list = rawjson.AppendString(append(list, "- "...), line)
		}
		list = append(list, '\n')
	}
	return list
}

// isSentences tells text without any form from YAML, whose lists and keys show in its first line.
func isSentences(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	first = strings.TrimSpace(first)
	if first == "---" || strings.HasPrefix(first, "- ") || first != "" && strings.Contains("[{#", first[:1]) {
		return false
	}
	key, rest, found := strings.Cut(first, ":")
	return !found || strings.ContainsAny(key, " \"“「") || rest != "" && rest[0] != ' '
}

// findElement is the tool find_element.
func (l *Lab) findElement(ctx context.Context, req *call.Request, args json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Description string      `json:"description"`
		Action      find.Action `json:"action"`
	}
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, fault.New(fault.BadArguments, "the arguments do not fit: %w", err)
	}
	s, free, err := l.callersBrowser(ctx, req)
	if err != nil {
		return nil, err
	}
	defer free()
	found, miss := l.runner(s, l.newID(), run.Options{}, nil).Find(ctx, &steps.Target{Text: in.Description}, in.Action)
	if miss != nil {
		return result(miss, true), nil
	}
	return result(found, false), nil
}

// callersBrowser is the browser of the caller's own calls; free lets the next call use it.
func (l *Lab) callersBrowser(ctx context.Context, req *call.Request) (s *session, free func(), err error) {
	l.parts.Catalog.Ready(ctx, req.Profile)
	view, err := l.parts.Catalog.View(req.Profile)
	if err != nil {
		return nil, nil, err
	}
	id, err := browserOf(view)
	if err != nil {
		return nil, nil, err
	}
	s = l.sessionOf(req, id)
	key := fmt.Sprintf("%q %q %q", req.Principal.ID, req.Params.Session, req.MCPSession)
	lease, err := l.parts.Leases.Take(ctx, store.Home{Kind: store.ScreenLease, Key: key}, nil)
	if errors.Is(err, replicas.ErrHeld) {
		return nil, nil, fault.New(fault.UpstreamBusy, "steps are being run in this browser already").WithHint("wait until they are done")
	}
	if err != nil {
		lease = replicas.Unheld(ctx)
	}
	return s, lease.End, nil
}

// sessionOf is the browser of a server that the caller's own calls use.
func (l *Lab) sessionOf(req *call.Request, server tool.ServerID) *session {
	s := &session{lab: l, server: server, as: call.Request{
		Principal: req.Principal, Profile: req.Profile, MCPSession: req.MCPSession, From: req.From,
		Agent: req.Agent, Client: req.Client, Reader: call.Person,
	}}
	s.as.Params.Session = req.Params.Session
	return s
}

// result is an answer as a tool's result.
func result(v any, isError bool) json.RawMessage {
	body, err := json.Marshal(v)
	if err != nil {
		body = []byte(`{}`) // values of ours
	}
	out := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), string(body))
	out = append(append(out, `}],"structuredContent":`...), body...)
	if isError {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// toldStep is what an agent needs to know of a step.
type toldStep struct {
	Step       string           `json:"step"`
	Status     run.Status       `json:"status"`
	Element    string           `json:"element,omitempty"`
	By         string           `json:"by,omitempty"` // model: not the words decided, but a model
	Error      *run.Error       `json:"error,omitempty"`
	Candidates []find.Candidate `json:"candidates,omitempty"`
	Warnings   []string         `json:"warnings,omitempty"`
}

type toldCase struct {
	Name   string     `json:"name"`
	Status run.Status `json:"status"`
	Steps  []toldStep `json:"steps"`
}

// told is a run without calls and pictures, which an agent can ask for.
func told(k *Run) any {
	out := struct {
		Run    string     `json:"run"`
		Passed bool       `json:"passed"`
		Cases  []toldCase `json:"cases"`
	}{k.ID, k.Outcome == Passed, []toldCase{}}
	for c := range run.Cases(k.Results) {
		one := toldCase{Name: c.Name, Status: c.Status, Steps: []toldStep{}}
		for _, s := range c.Steps {
			t := toldStep{Step: s.Text, Status: s.Status, Error: s.Error, Candidates: s.Candidates, Warnings: s.Warnings}
			if s.Element != nil {
				t.Element = strings.TrimSpace(s.Element.Role + " " + s.Element.Name)
				t.By = s.Element.By
			}
			one.Steps = append(one.Steps, t)
		}
		out.Cases = append(out.Cases, one)
	}
	return out
}
