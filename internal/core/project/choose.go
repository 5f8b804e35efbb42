package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// Choice is the rules that apply to one call.
type Choice struct {
	On     *Active // what is applied; nil: nothing
	Shadow *Active // what is only counted; nil: nothing
}

// Choose finds the rules for a call, given the arguments that were sent: an exact tool wins over a
// glob, then as in better. A rule in shadow never hides one that is on.
func (r *Rules) Choose(name tool.Name, profile string, args []byte) (c Choice) {
	if r == nil {
		return c
	}
	pick := func(list []*Active, glob bool) {
		for _, a := range list {
			if c.On != nil && (c.Shadow != nil || a.Mode != Shadow) || c.Shadow != nil && a.Mode == Shadow {
				continue
			}
			if glob && !tool.Match(a.Tool, string(name)) || !a.holds(profile, args) {
				continue
			}
			if a.Mode == Shadow {
				c.Shadow = a
			} else {
				c.On = a
			}
		}
	}
	pick(r.exact[name], false)
	pick(r.globs, true)
	return c
}

// MayApply lists the rules that some call of the tool can match. always: one of them matches every
// call.
func (r *Rules) MayApply(name tool.Name, profile string) (rules []*Active, always bool) {
	if r == nil {
		return nil, false
	}
	add := func(list []*Active, glob bool) {
		for _, a := range list {
			if a.Mode != Shadow && !always && (!glob || tool.Match(a.Tool, string(name))) && a.inProfile(profile) {
				rules = append(rules, a)
				always = len(a.when) == 0
			}
		}
	}
	add(r.exact[name], false)
	add(r.globs, true)
	return rules, always
}

// How is the profile's h with what the rule overrides.
func (a *Active) How(h How) How {
	h.Mask = a.Mask
	h.JQ = a.Program
	if a.Budget > 0 {
		h.Budget = a.Budget
	}
	switch a.Shape {
	case "":
	case shape.Off:
		h.Shape = ""
	default:
		h.Shape = a.Shape
	}
	return h
}

func (a *Active) inProfile(profile string) bool { return a.scoped() == 0 || a.Profile == profile }

func (a *Active) holds(profile string, args []byte) bool {
	return a.inProfile(profile) && !slices.ContainsFunc(a.when, func(c condition) bool { return !c.holds(args) })
}

// condition is the values that one argument may have.
type condition struct {
	path   []string
	absent bool // the argument may be missing
	values []any
}

func newCondition(name string, values any) (condition, error) {
	c := condition{path: []string{name}}
	if strings.HasPrefix(name, "/") {
		c.path = jsonschema.Names(name)
	}
	list, ok := values.([]any)
	switch {
	case !ok:
		list = []any{values}
	case len(list) == 0:
		return c, errors.New("the list is empty, so no call would match")
	}
	for _, v := range list {
		switch v := v.(type) {
		case nil:
			c.absent = true
			c.values = append(c.values, nil)
		case string, bool:
			c.values = append(c.values, v)
		case int, int64, uint64, float64, json.Number:
			n := number(fmt.Sprint(v))
			if n == nil {
				return c, fmt.Errorf("%v is not a number that can be compared", v)
			}
			c.values = append(c.values, n)
		default:
			return c, fmt.Errorf("%v is not a string, number, boolean or null", v)
		}
	}
	return c, nil
}

func (c *condition) holds(args []byte) bool {
	value := pointed(args, c.path)
	if value == nil {
		return c.absent
	}
	return slices.ContainsFunc(c.values, func(want any) bool { return equals(value, want) })
}

// pointed follows member names and array indexes; nil if there is no such value.
func pointed(value []byte, path []string) []byte {
	for _, name := range path {
		if len(value) == 0 || value[0] != '[' {
			value = rawjson.Get(value, name)
			continue
		}
		place := 0
		rest := rawjson.Array(value)
		for value = nil; rest.Next(); place++ {
			if strconv.Itoa(place) == name {
				value = rest.Value
				break
			}
		}
	}
	return value
}

// maxDigits limits numbers that are compared: 1e999999999 would fill the memory.
const maxDigits = 40

func equals(raw []byte, want any) bool {
	switch want := want.(type) {
	case nil:
		return string(raw) == "null"
	case bool:
		return want && string(raw) == "true" || !want && string(raw) == "false"
	case string:
		s, ok := rawjson.String(raw)
		return ok && s == want
	case *big.Rat:
		n := number(string(raw))
		return n != nil && n.Cmp(want) == 0
	}
	return false
}

// number is the value of a JSON number; nil for all else, and for what is too long.
func number(text string) *big.Rat {
	if text[0] != '-' && (text[0] < '0' || text[0] > '9') || len(text) > maxDigits {
		return nil
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 && len(text)-e > len("e+308") {
		return nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return n
}
