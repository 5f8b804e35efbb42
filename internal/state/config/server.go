package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

var serverTypes = []string{"stdio", "http", "streamable-http", "sse"}

// ours are the keys of a server that no client has in this form. A client's own key of
// the same name is a bare number or a boolean, in units that differ from client to client.
var ours = []string{"timeout", "timeouts", "start", "idle", "isolation", "inherit", "refresh", "builtin", "proxy", "breaker"}

// server reads one entry of mcpServers.
func (d *decoder) server(at place, e entry) Server {
	s := defaultServer(tool.ServerID(e.key), e.line)
	n := e.value
	if n.kind == nothing {
		d.fail(at, "needs one of command, url or builtin")
		return s
	}
	if !d.expect(at, n, object) {
		return s
	}
	fields := s.fields()
	if d.client {
		fields = s.clientFields()
		n = d.withoutForeign(n)
	}
	before := len(d.problems)
	d.object(at, n, fields)
	if len(d.problems) == before {
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
	return s
}

func (s *Server) fields() []field {
	return []field{
		{"command", textInto(&s.Command, checkFilled)},
		{"args", listInto(&s.Args, nil)},
		{"env", s.readEnv},
		{"inherit", s.readInherit},
		{"cwd", textInto(&s.Cwd, checkFilled)},
		{"url", textInto(&s.URL, urlLike("https://example.com/mcp"))},
		{"headers", s.readHeaders},
		{"builtin", textInto(&s.Builtin, checkFilled)},
		{"type", oneOf(&s.Type, serverTypes...)},
		{"timeout", durationInto(&s.Timeout, 1)},
		{"timeouts", s.readTimeouts},
		{"start", durationInto(&s.Start, 1)},
		{"idle", s.readIdle},
		{"isolation", oneOf(&s.Isolation, "shared", "session")},
		{"utf8", oneOf(&s.UTF8, "replace", "refuse")},
		{"disabled", boolInto(&s.Disabled)},
		{"refresh", durationInto(&s.Refresh, 1)},
		{"proxy", textInto(&s.Proxy, checkProxy)},
		{"concurrency", countInto(&s.Concurrency, 0, maxCalls)},
		{"queue", countInto(&s.Queue, 0, maxCalls)},
		{"breaker", s.Breaker.read},
	}
}

// maxCalls bounds the numbers of calls that a server may be given.
const maxCalls = 1_000_000

func (b *Breaker) read(d *decoder, at place, n *node) { d.object(at, n, b.fields()) }

func (b *Breaker) fields() []field {
	return []field{
		{"failures", countInto(&b.Failures, 0, maxCalls)},
		{"pause", durationInto(&b.Pause, time.Millisecond)},
	}
}

// clientFields are the fields as clients spell them.
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

// readClientCommand takes a command as text, or as an object with its arguments, as Zed had it.
func (s *Server) readClientCommand(d *decoder, at place, n *node) {
	if n.kind != object {
		textInto(&s.Command, checkFilled)(d, at, n)
		return
	}
	d.object(at, n, []field{{"path", textInto(&s.Command, checkFilled)}, {"args", listInto(&s.Args, nil)}, {"env", s.readEnv}})
}

// withoutForeign drops a client's own keys that only look like ours.
func (d *decoder) withoutForeign(n *node) *node {
	out := *n
	out.entries = nil
	for _, e := range n.entries {
		if (e.value.kind == number || e.value.kind == boolean) && slices.Contains(ours, e.key) {
			d.ignored = append(d.ignored, e.key)
			continue
		}
		out.entries = append(out.entries, e)
	}
	return &out
}

// readClientType takes the spellings that are about: streamableHttp, streamable_http, HTTP.
func (s *Server) readClientType(d *decoder, at place, n *node) {
	flat := func(name string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	}
	var name string
	oneOf := func(got string) string {
		for _, t := range serverTypes {
			if flat(t) == flat(got) {
				name = t
				return ""
			}
		}
		return checkChoice(got, serverTypes)
	}
	if _, ok := d.checked(at, n, oneOf); ok {
		s.Type = name
	}
}

func (s *Server) readEnv(d *decoder, at place, n *node) {
	s.Env = make(map[string]string)
	d.each(at, n, func(inner place, e entry) {
		if e.key == "" || strings.ContainsAny(e.key, "=\x00") {
			d.fail(inner, `is not a variable's name; it may not be empty or hold "="`)
			return
		}
		if v, ok := d.checked(inner, e.value, nil); ok {
			s.Env[e.key] = v
			d.guarded(e.key, v)
		}
	})
}

// readInherit takes names of variables, or all.
func (s *Server) readInherit(d *decoder, at place, n *node) {
	if n.kind != list {
		if v, ok := d.checked(at, n, nil); ok && v != "all" {
			d.fail(at, "expected all, or a list of variables, such as [GITHUB_TOKEN, AWS_*]")
		}
		s.Inherit = []string{"*"}
		return
	}
	listInto(&s.Inherit, func(name string) string {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return `is not a variable's name; it may not be empty or hold "="`
		}
		return ""
	})(d, at, n)
}

func (s *Server) readHeaders(d *decoder, at place, n *node) {
	s.Headers = make(map[string]string)
	d.each(at, n, func(inner place, e entry) {
		if !isHeaderName(e.key) {
			d.fail(inner, "is not a header's name; use letters, digits and \"-\"")
			return
		}
		if v, ok := d.checked(inner, e.value, checkHeaderValue); ok {
			s.Headers[e.key] = v
			d.secret(v)
		}
	})
}

func (s *Server) readTimeouts(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		if wrong := checkGlob(e.key); wrong != "" {
			d.fail(inner, "%s", wrong)
			return
		}
		t := ToolTimeout{Glob: e.key}
		durationInto(&t.Timeout, 1)(d, inner, e.value)
		if t.Timeout > 0 {
			s.Timeouts = append(s.Timeouts, t)
		}
	})
}

// readIdle reads 0 as never: a server that is closed at once after each call helps nobody.
func (s *Server) readIdle(d *decoder, at place, n *node) {
	durationInto(&s.Idle, 0)(d, at, n)
	if s.Idle == 0 {
		s.Idle = -1
	}
}

// checkServer reports what does not go together. Clients carry such leftovers often and
// ignore them; so do we in their files.
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

type mismatch struct {
	key, with string
	drop      func()
}

// mismatches are the keys that mean nothing for this way to reach a server.
func (s *Server) mismatches() []mismatch {
	var out []mismatch
	if s.Command == "" && len(s.Args) > 0 {
		out = append(out, mismatch{"args", "command", func() { s.Args = nil }})
	}
	if s.Command == "" && len(s.Inherit) > 0 {
		out = append(out, mismatch{"inherit", "command", func() { s.Inherit = nil }})
	}
	if s.Command == "" && s.Cwd != "" {
		out = append(out, mismatch{"cwd", "command", func() { s.Cwd = "" }})
	}
	if s.URL != "" && len(s.Env) > 0 {
		out = append(out, mismatch{"env", "command", func() { s.Env = nil }})
	}
	if s.URL == "" && len(s.Headers) > 0 {
		out = append(out, mismatch{"headers", "url", func() { s.Headers = nil }})
	}
	if s.URL == "" && s.Proxy != "" {
		out = append(out, mismatch{"proxy", "url", func() { s.Proxy = "" }})
	}
	switch {
	case s.Type == "":
	case s.Type == "stdio" && s.Command == "":
		out = append(out, mismatch{fmt.Sprintf("type: %s", s.Type), "command", func() { s.Type = "" }})
	case s.Type != "stdio" && s.URL == "":
		out = append(out, mismatch{fmt.Sprintf("type: %s", s.Type), "url", func() { s.Type = "" }})
	}
	return out
}
