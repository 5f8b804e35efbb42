package config

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/tool"
)

var serverTypes = []string{"stdio", "http", "streamable-http", "sse"}

// ours are the keys of a server that no client has in this form. A client's own key of the same
// name is a number or a boolean, with units that differ from client to client.
var ours = []string{
	"timeout", "timeouts", "detach", "approve", "start", "idle", "isolation", "inherit", "refresh", "builtin", "proxy", "breaker", "oauth", "sandbox",
}

// server reads one entry of mcpServers.
func (d *decoder) server(at place, e entry) Server {
	s := defaultServer(tool.ServerID(e.Key), e.Line)
	n := e.Value
	if n.Kind == doctree.Nothing {
		d.fail(at, "needs one of command, url or builtin")
		return s
	}
	if !d.expect(at, n, doctree.Mapping) {
		return s
	}
	fields := s.fields()
	if d.client {
		fields = s.clientFields()
		n = d.withoutForeign(n)
	}
	if d.complete(at, n, fields) {
		d.checkServer(at, &s)
	}
	if !d.raw {
		s.Cwd = joined(d.dir, s.Cwd)
	}
	if d.client {
		portable(&s, runtime.GOOS)
	}
	d.secretsIn(s.Proxy)
	d.secretsIn(s.URL)
	for _, inline := range s.InlineSecrets() { // those of arguments, which servers like to repeat
		d.secret(inline.Value)
	}
	return s
}

func (s *Server) fields() []field {
	return []field{
		{"command", textInto(&s.Command, checkFilled)},
		{"args", listInto(&s.Args, nil)},
		{"env", s.readEnv()},
		{"inherit", s.readInherit},
		{"cwd", textInto(&s.Cwd, checkFilled)},
		{"sandbox", s.readSandbox},
		{"url", textInto(&s.URL, urlLike("https://example.com/mcp"))},
		{"headers", s.readHeaders()},
		{"oauth", s.readOAuth},
		{"builtin", textInto(&s.Builtin, checkFilled)},
		{"type", oneOf(&s.Type, serverTypes...)},
		{"timeout", durationInto(&s.Timeout, 1)},
		{"timeouts", s.readTimeouts},
		{"detach", parsedInto(&s.Detach, parseDetach)},
		{"approve", oneOf(&s.Approve, approvals...)},
		{"start", durationInto(&s.Start, 1)},
		{"idle", s.readIdle},
		{"isolation", oneOf(&s.Isolation, "shared", "session")},
		{"utf8", oneOf(&s.UTF8, "replace", "refuse")},
		{"disabled", boolInto(&s.Disabled)},
		{"refresh", durationInto(&s.Refresh, 1)},
		{"proxy", textInto(&s.Proxy, checkProxy)},
		{"concurrency", countInto(&s.Concurrency, 0, maxCalls)},
		{"queue", countInto(&s.Queue, 0, maxCalls)},
		{"breaker", section(s.Breaker.fields())},
	}
}

// maxCalls is the largest number of calls in a limit.
const maxCalls = 1_000_000

func (b *Breaker) fields() []field {
	return []field{
		{"failures", countInto(&b.Failures, 0, maxCalls)},
		{"pause", durationInto(&b.Pause, time.Millisecond)},
	}
}

// clientFields are the fields in the spelling of clients.
func (s *Server) clientFields() []field {
	fields := s.fields()
	for i, f := range fields {
		switch f.key {
		case "type":
			fields[i].read = s.readClientType
		case "command":
			fields[i].read = s.readClientCommand
		}
	}
	return append(fields,
		field{"transport", s.readClientType},
		field{"serverUrl", textInto(&s.URL, urlLike("https://example.com/mcp"))},
		field{"httpUrl", textInto(&s.URL, urlLike("https://example.com/mcp"))},
	)
}

// readClientCommand accepts a command as text, or as an object with its arguments, as in Zed.
func (s *Server) readClientCommand(d *decoder, at place, n *node) {
	if n.Kind != doctree.Mapping {
		textInto(&s.Command, checkFilled)(d, at, n)
		return
	}
	d.object(at, n, []field{{"path", textInto(&s.Command, checkFilled)}, {"args", listInto(&s.Args, nil)}, {"env", s.readEnv()}})
}

// ClientServer reads one server of a client's file, for import: ${} stays as it is. The ignored
// keys have no meaning here.
func ClientServer(at doctree.Place, e doctree.Entry) (s Server, ignored []string, problems doctree.Problems) {
	d := &decoder{raw: true, client: true}
	s = d.server(at, e)
	return s, d.ignored, d.problems
}

// withoutForeign removes a client's own keys that only look like ours.
func (d *decoder) withoutForeign(n *node) *node {
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		if (e.Value.Kind == doctree.Number || e.Value.Kind == doctree.Bool) && slices.Contains(ours, e.Key) {
			d.ignored = append(d.ignored, e.Key)
			continue
		}
		out.Entries = append(out.Entries, e)
	}
	return &out
}

// readClientType accepts the spellings in use: streamableHttp, streamable_http, HTTP.
func (s *Server) readClientType(d *decoder, at place, n *node) {
	flat := func(name string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	}
	parsedInto(&s.Type, func(got string) (string, string) {
		i := slices.IndexFunc(serverTypes, func(t string) bool { return flat(t) == flat(got) })
		if i < 0 {
			return "", checkChoice(got, serverTypes)
		}
		return serverTypes[i], ""
	})(d, at, n)
}

// readInherit accepts names of variables, or all.
func (s *Server) readInherit(d *decoder, at place, n *node) {
	if n.Kind != doctree.List {
		if v, ok := d.checked(at, n, nil); ok && v != "all" {
			d.fail(at, "expected all, or a list of variables, such as [GITHUB_TOKEN, AWS_*]")
		}
		s.Inherit = []string{"*"}
		return
	}
	listInto(&s.Inherit, checkVariable)(d, at, n)
}

func (s *Server) readEnv() reader { return mapInto(&s.Env, checkVariable, nil, (*decoder).guarded) }

func (s *Server) readHeaders() reader {
	read := mapInto(&s.Headers, checkHeaderName, checkHeaderValue, func(d *decoder, _, value string) {
		if UserValues(value) == nil {
			d.secret(value)
		}
	})
	return func(d *decoder, at place, n *node) {
		d.users = true
		defer func() { d.users = false }()
		read(d, at, n)
	}
}

func (s *Server) readTimeouts(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		if wrong := checkGlob(e.Key); wrong != "" {
			d.fail(inner, "%s", wrong)
			return
		}
		t := ToolTimeout{Glob: e.Key}
		durationInto(&t.Timeout, 1)(d, inner, e.Value)
		if t.Timeout > 0 {
			s.Timeouts = append(s.Timeouts, t)
		}
	})
}

// readIdle reads 0 as never.
func (s *Server) readIdle(d *decoder, at place, n *node) {
	durationInto(&s.Idle, 0)(d, at, n)
	if s.Idle == 0 {
		s.Idle = -1
	}
}

// checkServer reports settings that contradict each other. In clients' files they are common, and
// ignored.
func (d *decoder) checkServer(at place, s *Server) {
	var ways []string
	for _, way := range []struct{ key, value string }{{"command", s.Command}, {"url", s.URL}, {"builtin", s.Builtin}} {
		if way.value != "" {
			ways = append(ways, way.key)
		}
	}
	if len(ways) != 1 {
		if len(ways) == 0 {
			d.fail(at, "needs one of command, url or builtin")
		} else {
			d.fail(at, "has %s; keep one", strings.Join(ways, " and "))
		}
		return
	}
	for _, p := range s.mismatches() {
		if d.client {
			d.ignored = append(d.ignored, p.key)
			p.drop()
			continue
		}
		d.fail(at, "%s goes with %s, and this server has %s; remove it", p.key, p.with, ways[0])
	}
}

// mismatch is a key that has no meaning for the way in which a server is reached.
type mismatch struct {
	key, with string
	drop      func()
}

func (s *Server) mismatches() []mismatch {
	noCommand := s.Command == ""
	noURL := s.URL == ""
	var out []mismatch
	for _, m := range []struct {
		is bool
		mismatch
	}{
		{noCommand && len(s.Args) > 0, mismatch{"args", "command", func() { s.Args = nil }}},
		{noCommand && len(s.Inherit) > 0, mismatch{"inherit", "command", func() { s.Inherit = nil }}},
		{noCommand && s.Cwd != "", mismatch{"cwd", "command", func() { s.Cwd = "" }}},
		{noCommand && s.Sandbox != nil, mismatch{"sandbox", "command", func() { s.Sandbox = nil }}},
		{!noURL && len(s.Env) > 0, mismatch{"env", "command", func() { s.Env = nil }}},
		{noURL && len(s.Headers) > 0, mismatch{"headers", "url", func() { s.Headers = nil }}},
		{noURL && s.OAuth != nil, mismatch{"oauth", "url", func() { s.OAuth = nil }}},
		{noURL && s.Proxy != "", mismatch{"proxy", "url", func() { s.Proxy = "" }}},
		{noCommand && s.Type == "stdio", mismatch{"type: stdio", "command", func() { s.Type = "" }}},
		{noURL && s.Type != "" && s.Type != "stdio", mismatch{"type: " + s.Type, "url", func() { s.Type = "" }}},
	} {
		if m.is {
			out = append(out, m.mismatch)
		}
	}
	return out
}
