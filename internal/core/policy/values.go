package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// variables are what expressions see of one call, each made when it is first looked at.
type variables struct {
	rules    []*compiled // that are about the call
	call     *Call
	whole    bool // the expression looks at args as a whole
	who      map[string]any
	tool     map[string]any
	named    any // args with the members that these rules name
	complete any // args with all members
	partial  interpreter.Activation
}

// bind selects the rules that are about the call, and makes ready what they see of it.
func (s *Set) bind(c *Call) *variables {
	v := &variables{call: c}
	if s != nil {
		for _, r := range s.rules {
			if r.selects(c) {
				v.rules = append(v.rules, r)
			}
		}
	}
	return v
}

// activation is what CEL evaluates with. Without arguments, these are unknown, and so is the time.
func (v *variables) activation() any {
	if v.call.Args != nil && !v.call.AnyTime {
		return interpreter.Activation(v)
	}
	if v.partial == nil {
		unknown := []*cel.AttributePatternType{cel.AttributePattern("now")}
		if v.call.Args == nil {
			unknown = append(unknown, cel.AttributePattern("args"))
		}
		partial, err := cel.PartialVars(interpreter.Activation(v), unknown...)
		if err != nil {
			return err // CEL refuses it: the rule fails
		}
		v.partial = partial
	}
	return v.partial
}

// Parent is part of CEL's interface: there is none.
func (v *variables) Parent() interpreter.Activation { return nil }

// ResolveName returns a variable.
func (v *variables) ResolveName(name string) (any, bool) {
	c := v.call
	switch name {
	case "args":
		return v.args(), true
	case "profile":
		return c.Profile, true
	case "now":
		return c.Now, true
	case "who":
		if v.who == nil {
			w := &c.Who
			v.who = map[string]any{
				"id": w.ID, "name": w.Name, "kind": w.Kind, "role": w.Role, "client": w.Client, "groups": w.Groups, "scopes": w.Scopes,
			}
		}
		return v.who, true
	case "tool":
		if v.tool == nil {
			t := &c.Tool
			v.tool = map[string]any{
				"name": string(t.Name), "server": string(t.Server), "kind": t.Kind,
				"readOnly": t.ReadOnly, "destructive": t.Destructive, "idempotent": t.Idempotent, "openWorld": t.OpenWorld,
			}
		}
		return v.tool, true
	}
	return nil, false
}

// args are the arguments, or an error value if they can be read in two ways.
func (v *variables) args() any {
	into := &v.named
	if v.whole {
		into = &v.complete
	}
	if *into == nil {
		var names map[string]bool
		if !v.whole {
			names = map[string]bool{}
			for _, r := range v.rules {
				for _, name := range r.members {
					names[name] = true
				}
			}
		}
		args, err := readArgs(v.call.Args, names)
		if err != nil {
			*into = types.WrapErr(err)
		} else {
			*into = args
		}
	}
	return *into
}

// readArgs decodes the named members of arguments; nil names: all. Servers differ in which of two members of one name they take, and
// some ignore case, so that such arguments have no one meaning.
func readArgs(raw json.RawMessage, names map[string]bool) (map[string]any, error) {
	args := object{map[string]any{}, map[string]bool{}}
	if rawjson.IsNull(raw) {
		return args.values, nil
	}
	folded := make(map[string]bool, len(names))
	for name := range names {
		folded[fold(name)] = true
	}
	w := rawjson.Object(raw)
	for w.Next() {
		name := string(w.Key)
		switch {
		case names == nil || names[name]:
			if err := args.add(name, w.Value); err != nil {
				return nil, err
			}
		case folded[fold(name)]:
			return nil, fmt.Errorf("args has %q, which differs from a name in a rule by case alone", name)
		}
	}
	return args.values, w.Err()
}

// object is an object while it is read.
type object struct {
	values map[string]any
	seen   map[string]bool // names without case
}

func (o *object) add(name string, raw []byte) error {
	key := fold(name)
	if o.seen[key] {
		return fmt.Errorf("args has %q twice", name)
	}
	o.seen[key] = true
	value, err := read(raw)
	o.values[name] = value
	return err
}

// fold is a name without case, as Unicode folds it.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		for next := unicode.SimpleFold(r); ; next = unicode.SimpleFold(next) {
			if next <= r { // the orbit begins again
				return next
			}
			r = next
		}
	}, name)
}

var errNumber = errors.New("args has a number that cannot be compared exactly")

// read decodes one value. Whole numbers stay exact.
func read(raw []byte) (any, error) {
	switch raw[0] {
	case '{':
		o := object{map[string]any{}, map[string]bool{}}
		w := rawjson.Object(raw)
		for w.Next() {
			if err := o.add(string(w.Key), w.Value); err != nil {
				return nil, err
			}
		}
		return o.values, w.Err()
	case '[':
		list := []any{}
		w := rawjson.Array(raw)
		for w.Next() {
			item, err := read(w.Value)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, w.Err()
	case '"':
		text, ok := rawjson.String(raw)
		if !ok {
			return nil, errors.New("args has a text that cannot be read")
		}
		return text, nil
	case 't', 'f':
		return raw[0] == 't', nil
	case 'n':
		return types.NullValue, nil
	}
	return readNumber(string(raw))
}

func readNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errNumber
		}
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, errNumber
	}
	return n, nil
}
