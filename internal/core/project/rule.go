package project

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// Mode says whether a rule is in force.
type Mode string

const (
	On     Mode = "on"
	Shadow Mode = "shadow" // computed and counted; the full result is sent
	Off    Mode = "off"
)

// Source is where a rule comes from. Of equal rules the earlier source wins; built-in rules
// come last.
type Source int

const (
	File    Source = iota // the configuration file
	Store                 // added while running
	Builtin               // shipped with a server of ours
)

// Rule says what to keep of the results of some calls, as an operator writes it.
type Rule struct {
	ID   string // "": named after its place in the list
	Tool string // the canonical name, or a glob on it
	// argument's name or /pointer → the value or list of values that it must have; nil also means absent
	When    map[string]any
	Keep    string // a mask
	Drop    string // a list of what to leave out; at most one of Keep, Drop and JQ
	JQ      string
	Budget  int        // o200k tokens; 0: the profile's
	Shape   shape.Mode // "": the profile's
	Mode    Mode       // "": on
	Profile string     // "" or "*": all
	Source  Source
}

// Problem is a rule that cannot be used.
type Problem struct {
	Rule    int    // index in the list
	Field   string // of the rule
	Message string
	Hint    string
}

func (p Problem) Error() string {
	s := fmt.Sprintf("rule %d, %s: %s", p.Rule, p.Field, p.Message)
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Active is a compiled rule in force.
type Active struct {
	Rule
	Mask    *mask.Mask // of Keep or Drop
	Program *Program   // of JQ

	when  []condition
	order int
}

// Rules are the rules in force. They are immutable.
type Rules struct {
	exact map[tool.Name][]*Active // the best first
	globs []*Active               // the best first
}

// Compile checks and compiles the rules. With problems there are none: the previous ones should stay
// in force.
func Compile(rules []Rule) (*Rules, []Problem) {
	out := &Rules{exact: map[tool.Name][]*Active{}}
	var problems []Problem
	ids := map[string]bool{}
	for i, r := range rules {
		if r.ID == "" {
			r.ID = fmt.Sprintf("results[%d]", i)
		}
		a, wrong := compile(r, i)
		if ids[r.ID] {
			wrong = append(wrong, Problem{i, "id", fmt.Sprintf("%q is the id of another rule", r.ID), ""})
		}
		ids[r.ID] = true
		problems = append(problems, wrong...)
		switch {
		case len(wrong) > 0 || r.Mode == Off:
		case strings.ContainsAny(r.Tool, "*?"):
			out.globs = append(out.globs, a)
		default:
			name := tool.Name(r.Tool)
			out.exact[name] = append(out.exact[name], a)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	for _, list := range out.exact {
		slices.SortFunc(list, better)
	}
	slices.SortFunc(out.globs, better)
	return out, nil
}

// better orders rules by how specific they are: more conditions, then a profile, then source and id.
func better(a, b *Active) int {
	return cmp.Or(
		cmp.Compare(a.builtin(), b.builtin()),
		cmp.Compare(len(b.when), len(a.when)),
		cmp.Compare(b.scoped(), a.scoped()),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.order, b.order),
	)
}

func (a *Active) scoped() int {
	if a.Profile == "" || a.Profile == "*" {
		return 0
	}
	return 1
}

func (a *Active) builtin() int {
	if a.Source == Builtin {
		return 1
	}
	return 0
}

func compile(r Rule, i int) (*Active, []Problem) {
	a := &Active{Rule: r, order: i}
	var problems []Problem
	wrong := func(field, hint, format string, args ...any) {
		problems = append(problems, Problem{i, field, fmt.Sprintf(format, args...), hint})
	}
	if r.Tool == "" {
		wrong("tool", `write the tool's name, server__tool, or a glob such as "server__*"`, "is missing")
	}
	ways := 0
	for k, src := range []string{r.Keep, r.Drop, r.JQ} {
		if src == "" {
			continue
		}
		field := [...]string{"keep", "drop", "jq"}[k]
		ways++
		if ways > 1 {
			wrong(field, "one rule has one of keep, drop and jq", "is one too many")
			continue
		}
		var err error
		switch field {
		case "keep":
			a.Mask, err = mask.Parse(src)
		case "drop":
			a.Mask, err = mask.ParseDrop(src)
		case "jq":
			a.Program, err = CompileJQ(src)
		}
		if e := (*mask.Error)(nil); errors.As(err, &e) {
			wrong(field, e.Hint, "at byte %d: %s", e.Offset, e.Message)
		} else if err != nil {
			wrong(field, "", "%s", err)
		}
	}
	if ways == 0 && r.Budget == 0 && r.Shape == "" {
		wrong("keep", `name the fields to keep, as in "items(id,name)"`, "is missing")
	}
	if r.Budget < 0 {
		wrong("budget", "", "is %d, less than nothing", r.Budget)
	}
	if !slices.Contains([]shape.Mode{"", shape.Off, shape.JSON, shape.Table, shape.Auto}, r.Shape) {
		wrong("shape", "off, json, table or auto", "is %q", r.Shape)
	}
	if !slices.Contains([]Mode{"", On, Shadow, Off}, r.Mode) {
		wrong("mode", "off, shadow or on", "is %q", r.Mode)
	}
	for name, values := range r.When {
		c, err := newCondition(name, values)
		if err != nil {
			wrong("when", "", "%s: %v", name, err)
		}
		a.when = append(a.when, c)
	}
	return a, problems
}
