package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// function is one of NESTFUL's; its three parts differ in where parameters are.
type function struct {
	Name, Description string
	Query             map[string]value `json:"query_parameters"`
	Path              map[string]value `json:"path_parameters"`
	Plain             map[string]value `json:"parameters"`
	Arguments         map[string]value
	Output            map[string]value `json:"output_parameters"`
}

// value is a parameter, or something that a function returns.
type value struct {
	Type, Description string
	Required          any
	Enum              choice
	Allowed           choice `json:"allowed_values"`
	Possible          choice `json:"possible_values"`
	Items             *value
	Properties        map[string]value
}

// choice is a list of values. What else the set writes there, such as 1-100, is no list.
type choice []any

func (c *choice) UnmarshalJSON(text []byte) error {
	var list []any
	if json.Unmarshal(text, &list) == nil {
		*c = list
	}
	return nil
}

// listed are the values that a parameter takes, if it says so.
func (v *value) listed() choice { return append(v.Enum, v.Allowed...) }

// UnmarshalJSON also takes what the set writes for a value in places: its type alone, or a list.
func (v *value) UnmarshalJSON(text []byte) error {
	type plain value
	if text[0] == '{' {
		return json.Unmarshal(text, (*plain)(v))
	}
	if text[0] == '"' {
		return json.Unmarshal(text, &v.Type)
	}
	return nil
}

type chain struct {
	Input  string
	Output []struct {
		Name, Label string
		Arguments   map[string]any
	}
}

// readNestful makes a call of each step of the chains, and a set for the search: which functions does a task need?
func readNestful(s *openSet, o *output) error {
	for _, part := range []struct{ name, path string }{
		{"executable", "data/executable/executable"},
		{"glaive", "data/non-executable/non-executable-glaive"},
		{"sgd", "data/non-executable/non-executable-sgd"},
	} {
		var list []function
		var chains []chain
		for file, into := range map[string]any{"-spec.json": &list, "-data.json": &chains} {
			text, err := s.file(part.path + file)
			if err == nil {
				err = json.Unmarshal(text, into)
			}
			if err != nil {
				return fmt.Errorf("%s%s: %w", part.path, file, err)
			}
		}
		functions := map[string]*function{}
		for i, f := range list {
			if functions[f.Name] == nil { // some are there twice
				functions[f.Name] = &list[i]
			}
		}
		left := 0
		for _, c := range chains {
			n, err := c.calls(o, "NESTFUL "+part.name, functions)
			if err != nil {
				return err
			}
			left += n
		}
		if left > 0 {
			s.lacks("%s: %d calls that have no definition, or reckon with what others return", part.name, left)
		}
		if err := retrieval(o, "nestful_"+part.name, functions, chains); err != nil {
			return err
		}
	}
	return nil
}

var reference = regexp.MustCompile(`^\$(var\d+)((?:\.\w+)*)\$$`)

// calls writes down the steps of a chain, and returns how many it left out.
func (c *chain) calls(o *output, set string, functions map[string]*function) (left int, err error) {
	made := map[string]*function{}
	for _, step := range c.Output {
		if step.Name == "var_result" {
			continue
		}
		f := functions[step.Name]
		made[step.Label] = f
		if f == nil {
			left++
			continue
		}
		args := map[string]any{}
		open := false
		for name, v := range step.Arguments {
			args[name] = v
			text, isText := v.(string)
			if m := reference.FindStringSubmatch(text); m != nil {
				args[name] = made[m[1]].sample(strings.Split(strings.TrimPrefix(m[2], "."), "."), f.parameters()[name])
			} else if isText && strings.Contains(text, "$var") {
				open = true
			}
		}
		if open {
			left++
			continue
		}
		schema, err := json.Marshal(object(f.parameters()))
		if err != nil {
			return left, err
		}
		raw, err := json.Marshal(args)
		if err != nil {
			return left, err
		}
		if err := o.add(corpora.Call{Set: set, Tool: f.Name, Schema: schema, Arguments: raw}); err != nil {
			return left, err
		}
	}
	return left, nil
}

func (f *function) parameters() map[string]value {
	all := map[string]value{}
	for _, part := range []map[string]value{f.Query, f.Path, f.Plain, f.Arguments} {
		for name, v := range part {
			all[name] = v
		}
	}
	return all
}

// sample is a value as the function says that it returns it; where it does not say, one that the parameter takes.
func (f *function) sample(path []string, parameter value) any {
	var v value
	if f != nil {
		v = value{Type: "object", Properties: f.Output}
		for _, name := range path {
			if name != "" {
				v = v.Properties[name]
			}
		}
	}
	if len(v.Possible) == 0 {
		v.Possible = parameter.listed()
	}
	switch kind := v.kind(); {
	case len(v.Possible) > 0:
		return v.Possible[0]
	case kind == "number":
		return 12.5
	case kind == "integer":
		return 12
	case kind == "boolean":
		return true
	case kind == "array":
		return []any{}
	case kind == "object":
		return map[string]any{}
	}
	return "some text"
}

// kind is the type as JSON Schema names it; "" for one that it does not know.
func (v *value) kind() string {
	switch kind := strings.ToLower(v.Type); kind {
	case "string", "number", "integer", "boolean", "array", "object":
		return kind
	case "float":
		return "number"
	}
	return ""
}

func (v *value) schema() map[string]any {
	s := map[string]any{"description": v.Description}
	if kind := v.kind(); kind != "" {
		s["type"] = kind
	}
	if list := v.listed(); len(list) > 0 {
		s["enum"] = list
	}
	if v.Items != nil {
		s["items"] = v.Items.schema()
	}
	if v.Properties != nil {
		s["properties"] = object(v.Properties)["properties"]
	}
	return s
}

func object(fields map[string]value) map[string]any {
	properties, required := map[string]any{}, []string{}
	for name, v := range fields {
		properties[name] = v.schema()
		if v.Required == true {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// retrieval writes a set in the form of those in TOOLFIT_DATA.
func retrieval(o *output, name string, functions map[string]*function, chains []chain) error {
	type tool struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		InputSchema map[string]any `json:"inputSchema"`
	}
	type query struct {
		ID   string     `json:"id"`
		Text string     `json:"text"`
		Gold [][]string `json:"gold"`
	}
	var set struct {
		Tools   []tool  `json:"tools"`
		Queries []query `json:"queries"`
	}
	for _, id := range sorted(functions) {
		f := functions[id]
		set.Tools = append(set.Tools, tool{id, id, f.Description, object(f.parameters())})
	}
	for i, c := range chains {
		q := query{ID: fmt.Sprint(i), Text: c.Input}
		for _, step := range c.Output {
			gold := []string{step.Name}
			if functions[step.Name] != nil && !slices.ContainsFunc(q.Gold, func(g []string) bool { return g[0] == gold[0] }) {
				q.Gold = append(q.Gold, gold)
			}
		}
		if len(q.Gold) > 0 {
			set.Queries = append(set.Queries, q)
		}
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return o.write("retrieval/"+name+".json", raw)
}
