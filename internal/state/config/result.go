package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// readResults reads results: the rules for cutting results.
func (c *draft) readResults(d *decoder, at place, n *node) {
	var places []place
	d.items(at, n, func(inner place, item *node) {
		r := project.Rule{Mode: project.On}
		if d.complete(inner, item, c.resultFields(&r)) && r.Tool == "" {
			d.fail(inner, "needs tool: a name such as server__tool, or a glob")
		}
		c.Results = append(c.Results, r)
		places = append(places, inner)
	})
	if len(d.problems) > 0 || d.raw {
		return
	}
	_, wrong := project.Compile(c.Results)
	for _, p := range wrong {
		d.fail(places[p.Rule].Key(p.Field, places[p.Rule].Line), "%s", ruleText(p))
	}
}

func ruleText(p project.Problem) string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + "; " + p.Hint
}

// ParseRule reads one rule for results from JSON: the keys of an entry of results. It is checked
// like the file.
func ParseRule(data []byte, profiles []Profile) (project.Rule, error) {
	const what = "the rule"
	root, err := readObject(what, data)
	if err != nil {
		return project.Rule{}, err
	}
	c := &draft{Config: &Config{Profiles: profiles}}
	d := &decoder{env: func(string) (string, bool) { return "", false }} // nothing is filled in
	r := project.Rule{Mode: project.On}
	d.object(place{}, root, c.resultFields(&r))
	c.checkRefs(d)
	if len(d.problems) == 0 {
		_, wrong := project.Compile([]project.Rule{r})
		for _, p := range wrong {
			d.fail(place{}.Key(p.Field, 0), "%s", ruleText(p))
		}
	}
	return r, d.err(what)
}

func (c *draft) resultFields(r *project.Rule) []field {
	return []field{
		{"id", textInto(&r.ID, checkFilled)},
		{"tool", textInto(&r.Tool, checkGlob)},
		{"when", func(d *decoder, at place, n *node) { r.When = d.conditions(at, n) }},
		{"keep", textInto(&r.Keep, checkFilled)},
		{"drop", textInto(&r.Drop, checkFilled)},
		{"jq", textInto(&r.JQ, checkFilled)},
		{"budget", countInto(&r.Budget, minBudget, maxBudget)},
		{"shape", oneOf((*string)(&r.Shape), shapes...)},
		{"mode", oneOf((*string)(&r.Mode), "on", "shadow", "off")},
		{"profile", c.profileInto(&r.Profile)},
	}
}

// DefaultBudget limits the text of results in profiles that set no budget: common clients refuse more tokens.
const DefaultBudget = 25_000

// readBudget reads a profile's budget, which replaces the default; 0 means none.
func (p *Profile) readBudget(d *decoder, at place, n *node) {
	p.TextBudget = 0
	parsedInto(&p.Budget, func(s string) (int, string) {
		v, err := strconv.Atoi(s)
		if err != nil || v != 0 && (v < minBudget || v > maxBudget) {
			return 0, fmt.Sprintf("expected a whole number from %d to %d, or 0 for no limit", minBudget, maxBudget)
		}
		return v, ""
	})(d, at, n)
}

// The range of useful budgets.
const (
	minBudget = 100
	maxBudget = 10_000_000
)

var shapes = []string{string(shape.Off), string(shape.JSON), string(shape.Table), string(shape.Auto)}

// conditions reads the values that arguments must have.
func (d *decoder) conditions(at place, n *node) map[string]any {
	when := map[string]any{}
	d.each(at, n, func(inner place, e entry) {
		dec := json.NewDecoder(bytes.NewReader(d.value(inner, e.Value)))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			d.fail(inner, "expected a value or a list of values")
			return
		}
		when[e.Key] = v
	})
	return when
}

// Safety says what is removed from the text of results for models.
type Safety struct {
	Strip   bool // invisible characters and hidden comments
	Secrets bool // what looks like a key or token, and the secrets of this configuration
	Mark    bool // results are marked as data
}

func (s *Safety) fields() []field {
	return []field{
		{"strip", boolInto(&s.Strip)},
		{"secrets", boolInto(&s.Secrets)},
		{"mark", boolInto(&s.Mark)},
	}
}
