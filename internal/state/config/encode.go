package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// fileEntry is an entry of the file while it is written: what is not set, or is the
// default, stays out.
type fileEntry struct{ n *node }

func (f fileEntry) put(key string, value *node) {
	f.n.entries = append(f.n.entries, entry{key: key, value: value})
}

func (f fileEntry) text(key, value string) {
	if value != "" {
		f.put(key, textNode(value))
	}
}

func (f fileEntry) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &node{kind: list}
	for _, v := range values {
		list.items = append(list.items, textNode(v))
	}
	f.put(key, list)
}

func (f fileEntry) pairs(key string, values map[string]string) {
	if len(values) > 0 {
		f.put(key, mapNode(values))
	}
}

func (f fileEntry) duration(key string, value, usual time.Duration) {
	if value != 0 && value != usual {
		f.put(key, textNode(formatDuration(value)))
	}
}

func (f fileEntry) yes(key string, value bool) {
	if value {
		f.put(key, &node{kind: boolean, text: "true"})
	}
}

// encode is a server as the file holds it.
func encode(s Server) *node {
	f := fileEntry{&node{kind: object}}
	if s.API != nil {
		f.api(s)
	} else {
		f.text("type", s.Type)
		f.text("command", s.Command)
		f.texts("args", s.Args)
		f.pairs("env", s.Env)
		if slices.Equal(s.Inherit, []string{"*"}) {
			f.text("inherit", "all")
		} else {
			f.texts("inherit", s.Inherit)
		}
		f.text("cwd", s.Cwd)
		f.text("url", s.URL)
		f.pairs("headers", s.Headers)
		f.text("builtin", s.Builtin)
	}
	f.duration("timeout", s.Timeout, defaultTimeout)
	if len(s.Timeouts) > 0 {
		limits := &node{kind: object}
		for _, t := range s.Timeouts {
			limits.entries = append(limits.entries, entry{key: t.Glob, value: textNode(formatDuration(t.Timeout))})
		}
		f.put("timeouts", limits)
	}
	f.duration("start", s.Start, defaultStart)
	f.duration("idle", s.Idle, defaultIdle)
	f.text("isolation", s.Isolation)
	f.text("utf8", s.UTF8)
	f.yes("disabled", s.Disabled)
	f.duration("refresh", s.Refresh, defaultRefresh)
	f.text("proxy", s.Proxy)
	if s.Concurrency > 0 {
		f.put("concurrency", countNode(s.Concurrency))
		if s.Queue != defaultQueue { // without a limit nobody waits
			f.put("queue", countNode(s.Queue))
		}
	}
	if s.Breaker != (Breaker{}) && s.Breaker != usualBreaker {
		f.put("breaker", &node{kind: object, entries: []entry{
			{key: "failures", value: countNode(s.Breaker.Failures)}, {key: "pause", value: textNode(formatDuration(s.Breaker.Pause))},
		}})
	}
	return f.n
}

// api adds what only an HTTP API has.
func (f fileEntry) api(s Server) {
	a := s.API
	f.text("spec", a.Spec)
	f.text("base", a.Base)
	f.texts("tags", a.Tags)
	f.texts("paths", a.Paths)
	f.texts("methods", a.Methods)
	f.texts("operations", a.Operations)
	f.yes("readOnly", a.ReadOnly)
	if a.Layout != "flat" {
		f.text("layout", a.Layout)
	}
	if len(a.Auth) > 0 {
		auth := fileEntry{&node{kind: object}}
		for _, scheme := range slices.Sorted(maps.Keys(a.Auth)) {
			auth.credential(scheme, a.Auth[scheme])
		}
		f.put("auth", auth.n)
	}
	f.pairs("headers", s.Headers)
	f.pairs("variables", a.Variables)
	var allow []string
	for _, network := range a.Allow {
		allow = append(allow, network.String())
	}
	f.texts("allow", allow)
}

func (f fileEntry) credential(scheme string, c Credential) {
	inner := fileEntry{&node{kind: object}}
	inner.text("value", c.Value)
	inner.text("user", c.User)
	inner.text("password", c.Password)
	inner.text("clientId", c.ClientID)
	inner.text("clientSecret", c.ClientSecret)
	inner.text("tokenUrl", c.TokenURL)
	inner.texts("scopes", c.Scopes)
	if len(inner.n.entries) == 1 && c.Value != "" {
		f.text(scheme, c.Value)
		return
	}
	f.put(scheme, inner.n)
}

func textNode(s string) *node { return &node{kind: text, text: s} }

func countNode(n int) *node { return &node{kind: number, text: strconv.Itoa(n)} }

func mapNode(m map[string]string) *node {
	n := &node{kind: object}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		n.entries = append(n.entries, entry{key: key, value: textNode(m[key])})
	}
	return n
}

// blockYAML writes "key: value" as lines. Lists and inner mappings of scalars stay on one
// line, as people write them.
func blockYAML(key string, value *node, indent, step string) []string {
	if value.kind != object || len(value.entries) == 0 {
		return []string{indent + yamlScalar(key) + ": " + flowYAML(value)}
	}
	lines := []string{indent + yamlScalar(key) + ":"}
	for _, e := range value.entries {
		lines = append(lines, blockYAML(e.key, e.value, indent+step, step)...)
	}
	return lines
}

// flowYAML writes a value on one line.
func flowYAML(n *node) string {
	var parts []string
	switch n.kind {
	case object:
		for _, e := range n.entries {
			parts = append(parts, yamlScalar(e.key)+": "+flowYAML(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case list:
		for _, item := range n.items {
			parts = append(parts, flowYAML(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case text:
		return yamlScalar(n.text)
	}
	return n.text
}

// yamlScalar writes text plainly where every YAML reader takes it for the same text,
// else in double quotes.
func yamlScalar(s string) string {
	plain := s != "" && len(s) <= 200
	for _, r := range s {
		plain = plain && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./", r))
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "-", "--", "---", "...": // text for some readers, not for others
		plain = false
	}
	if plain {
		tokens := lexer.Tokenize(s)
		plain = len(tokens) == 1 && tokens[0].Type == token.StringType && tokens[0].Value == s
	}
	if plain {
		return s
	}
	return jsonString(s)
}

// jsonString quotes text as JSON does, which YAML reads too. "<" stays "<".
func jsonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a buffer always takes it
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonValue writes a value as JSON: on one line when unit is empty, else objects over
// several lines that start with indent.
func jsonValue(n *node, indent, unit string) string {
	inner, sep, start, end := indent+unit, ", ", "", ""
	if unit != "" {
		sep, start, end = ",\n"+inner, "\n"+inner, "\n"+indent
	}
	var parts []string
	switch n.kind {
	case object:
		if len(n.entries) == 0 {
			return "{}"
		}
		for _, e := range n.entries {
			parts = append(parts, jsonString(e.key)+": "+jsonValue(e.value, inner, unit))
		}
		return "{" + start + strings.Join(parts, sep) + end + "}"
	case list:
		for _, item := range n.items {
			parts = append(parts, jsonValue(item, inner, ""))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case text:
		return jsonString(n.text)
	case nothing:
		return "null"
	}
	return n.text
}
