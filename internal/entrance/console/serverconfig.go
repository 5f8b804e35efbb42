package console

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/shell"
)

// serverConfig is how a server is configured, as pages show it and the form has it.
type serverConfig struct {
	Kind    string // command, url, openapi, or other
	Command []string
	Cwd     string
	URL     string
	Spec    string
	Base    string
	Env     []pair
	Headers []pair
	Rest    []pair // other keys, with their values as JSON
}

type pair struct{ Name, Value string }

// readConfig reads settings in the keys of the configuration file.
func readConfig(settings json.RawMessage) (s serverConfig) {
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(settings, &keys) // it was written by us
	take := func(key string) string {
		value := scalar(keys[key])
		delete(keys, key)
		return value
	}
	delete(keys, "name")
	s.URL, s.Spec, s.Base, s.Cwd = take("url"), take("spec"), take("base"), take("cwd")
	if command := take("command"); command != "" {
		s.Command = append([]string{command}, texts(keys["args"])...)
		delete(keys, "args")
	}
	s.Env, s.Headers = pairsIn(keys, "env"), pairsIn(keys, "headers")
	switch {
	case s.Command != nil:
		s.Kind = "command"
	case s.URL != "":
		s.Kind = "url"
	case s.Spec != "":
		s.Kind = "openapi"
	default:
		s.Kind = "other"
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		s.Rest = append(s.Rest, pair{key, string(keys[key])})
	}
	return s
}

// Inline tells whether the description of the API is part of the settings.
func (s serverConfig) Inline() bool { return strings.HasPrefix(s.Spec, "data:") }

// Line is what is run or reached, on one line.
func (s serverConfig) Line() string {
	switch s.Kind {
	case "command":
		return shell.Join(s.Command)
	case "openapi":
		if s.Inline() {
			return ""
		}
		return s.Spec
	}
	return s.URL
}

// Others are the other settings, for people.
func (s serverConfig) Others() (all []pair) {
	for _, p := range s.Rest {
		all = append(all, pair{p.Name, scalar(json.RawMessage(p.Value))})
	}
	return all
}

// scalar is a value as text.
func scalar(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func texts(raw json.RawMessage) (all []string) {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items)
	for _, item := range items {
		all = append(all, scalar(item))
	}
	return all
}

// pairsIn takes the pairs under a key that can be written one a line.
func pairsIn(keys map[string]json.RawMessage, key string) (all []pair) {
	var values map[string]json.RawMessage
	if json.Unmarshal(keys[key], &values) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := scalar(values[name])
		cut := strings.TrimSpace(name) != name || strings.TrimSpace(value) != value
		if cut || strings.ContainsAny(name, "=:") || strings.ContainsAny(name+value, "\r\n") {
			return nil // the form has it as JSON
		}
		all = append(all, pair{name, value})
	}
	delete(keys, key)
	return all
}

// fields are the settings as the fields of a form.
func (s serverConfig) fields(name string) url.Values {
	join := func(pairs []pair, between string) string {
		var b strings.Builder
		for _, p := range pairs {
			b.WriteString(p.Name + between + p.Value + "\n")
		}
		return b.String()
	}
	more, signIn := "", ""
	rest := map[string]json.RawMessage{}
	for _, p := range s.Rest {
		if p.Name == "oauth" && s.Kind == "url" {
			if signIn = signInOf(p.Value); signIn != otherSignIn {
				continue
			}
		}
		rest[p.Name] = json.RawMessage(p.Value)
	}
	if len(rest) > 0 {
		text, _ := json.MarshalIndent(rest, "", "  ") // it was read as JSON
		more = string(text)
	}
	return url.Values{
		"name": {name}, "kind": {s.Kind}, "command": {shell.Join(s.Command)}, "cwd": {s.Cwd}, "url": {s.URL}, "spec": {s.Spec}, "base": {s.Base},
		"env": {join(s.Env, "=")}, "headers": {join(s.Headers, ": ")}, "oauth": {signIn}, "more": {more},
	}
}

// otherSignIn is a sign-in with settings of its own, which the form has as JSON.
const otherSignIn = "other"

// signInOf is who signs in to a server: user, gateway or other.
func signInOf(oauth string) string {
	var keys map[string]string
	if json.Unmarshal([]byte(oauth), &keys) == nil && len(keys) == 1 && (keys["as"] == "user" || keys["as"] == "gateway") {
		return keys["as"]
	}
	return otherSignIn
}

// serverOf is the configuration of a server from the fields of a form.
func serverOf(get func(string) string) ([]byte, error) {
	keys := map[string]json.RawMessage{}
	if more := strings.TrimSpace(get("more")); more != "" {
		d := json.NewDecoder(strings.NewReader(more))
		if err := d.Decode(&keys); err != nil || keys == nil || d.More() {
			return nil, fault.New(fault.BadRequest, "the other settings are not a JSON object").WithHint(`write {"timeout": "2m"}, for example`)
		}
	}
	put := func(key string, value any) { putInto(keys, key, value) }
	text := func(key string) {
		if value := strings.TrimSpace(get(key)); value != "" {
			put(key, value)
		}
	}
	lines := func(key, between string) error { return linesInto(keys, key, get(key), between) }
	text("name")
	var err error
	switch kind := get("kind"); kind {
	case "command":
		var words []string
		line := strings.ReplaceAll(get("command"), "\r\n", "\n") // as forms send it
		if words, err = shell.Split(line); err == nil && len(words) > 0 {
			put("command", words[0])
		}
		if len(words) > 1 {
			put("args", words[1:])
		}
		text("cwd")
		if err == nil {
			err = lines("env", "=")
		}
	case "url":
		text("url")
		if as := get("oauth"); keys["oauth"] == nil && (as == "user" || as == "gateway") {
			put("oauth", map[string]string{"as": as})
		}
		err = lines("headers", ":")
	case "openapi":
		text("spec")
		text("base")
		err = lines("headers", ":")
	case "other":
	default:
		err = fault.New(fault.BadRequest, "unknown kind of server: %.40q", kind)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(keys)
}

func putInto(keys map[string]json.RawMessage, key string, value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // texts and maps of texts always can
	keys[key] = b.Bytes()
}

// linesInto adds the names and values of lines to those that a key has.
func linesInto(keys map[string]json.RawMessage, key, text, between string) error {
	values, err := pairs(text, between)
	if err != nil || len(values) == 0 {
		return err
	}
	var more map[string]json.RawMessage
	_ = json.Unmarshal(keys[key], &more) // what it has is checked where it is saved
	all := map[string]any{}
	for name, value := range more {
		all[name] = value
	}
	for name, value := range values {
		all[name] = value
	}
	putInto(keys, key, all)
	return nil
}

func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// pairs reads a name and a value from each line.
func pairs(text, between string) (map[string]string, error) {
	all := map[string]string{}
	for _, line := range lines(text) {
		name, value, ok := strings.Cut(line, between)
		if !ok {
			return nil, fault.New(fault.BadRequest, "a line has no %q between name and value", between).
				WithHint("write one name and value on each line")
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}
