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

// encode is a server as the file holds it: what is not set, or is the default, stays out.
func encode(s Server) *node {
	n := &node{kind: object}
	put := func(key string, value *node) { n.entries = append(n.entries, entry{key: key, value: value}) }
	putText := func(key, value string) {
		if value != "" {
			put(key, textNode(value))
		}
	}
	putDuration := func(key string, value, usual time.Duration) {
		if value != 0 && value != usual {
			put(key, textNode(formatDuration(value)))
		}
	}
	putText("type", s.Type)
	putText("command", s.Command)
	if len(s.Args) > 0 {
		args := &node{kind: list}
		for _, a := range s.Args {
			args.items = append(args.items, textNode(a))
		}
		put("args", args)
	}
	if len(s.Env) > 0 {
		put("env", mapNode(s.Env))
	}
	putText("cwd", s.Cwd)
	putText("url", s.URL)
	if len(s.Headers) > 0 {
		put("headers", mapNode(s.Headers))
	}
	putText("builtin", s.Builtin)
	putDuration("timeout", s.Timeout, defaultTimeout)
	if len(s.Timeouts) > 0 {
		limits := &node{kind: object}
		for _, t := range s.Timeouts {
			limits.entries = append(limits.entries, entry{key: t.Glob, value: textNode(formatDuration(t.Timeout))})
		}
		put("timeouts", limits)
	}
	putDuration("start", s.Start, defaultStart)
	putDuration("idle", s.Idle, defaultIdle)
	putText("isolation", s.Isolation)
	if s.Disabled {
		put("disabled", &node{kind: boolean, text: "true"})
	}
	putDuration("refresh", s.Refresh, defaultRefresh)
	putText("proxy", s.Proxy)
	if s.Concurrency > 0 {
		put("concurrency", countNode(s.Concurrency))
		if s.Queue != defaultQueue { // without a limit nobody waits
			put("queue", countNode(s.Queue))
		}
	}
	if s.Breaker != (Breaker{}) && s.Breaker != usualBreaker {
		put("breaker", &node{kind: object, entries: []entry{
			{key: "failures", value: countNode(s.Breaker.Failures)}, {key: "pause", value: textNode(formatDuration(s.Breaker.Pause))},
		}})
	}
	return n
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
