package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// keywords writes the keywords that the dialect keeps and describes the others.
func (w *writer) keywords(out *node, f *form, notes *[]string) {
	for _, n := range f.rest {
		if out.Get(n.Key) != nil {
			continue // the written structure is stricter
		}
		if w.keeps(f, n) {
			w.put(out, n.Key, w.copied(n))
			continue
		}
		n = w.rounded(out, f, n)
		if n == nil {
			continue
		}
		w.note(f, n, notes)
	}
}

// note describes a keyword that is not written. A minimum and a maximum share one sentence.
func (w *writer) note(f *form, n *node, notes *[]string) {
	note := noteOf(n)
	if rest, ok := strings.CutPrefix(n.Key, "min"); ok {
		if high := f.keyword("max" + rest); high != nil && !w.keeps(f, high) {
			note = n.Text + " to " + high.Text + noteTexts[n.Key][1]
			if n.Text == high.Text {
				note = n.Text + noteTexts[n.Key][1]
			}
		}
	} else if rest, ok := strings.CutPrefix(n.Key, "max"); ok {
		if low := f.keyword("min" + rest); low != nil && !w.keeps(f, low) {
			w.changeAt(n, Constraint, "described")
			return
		}
	}
	if len(note) > 400 {
		note = furtherRules
	}
	if note != "" {
		*notes = append(*notes, note)
		w.changeAt(n, Constraint, "described")
	} else if !jsonschema.Keywords[n.Key].Note {
		w.changeAt(n, Constraint, "dropped")
	}
}

// keeps reports whether the dialect accepts the keyword with this value here.
func (w *writer) keeps(f *form, n *node) bool {
	if !w.d.keep[n.Key] || !w.d.takes(n) || !constrains(n.Key, f.types) && w.d.needType || w.r.Named && hasRef(n) {
		return false
	}
	switch n.Key {
	case "unevaluatedProperties", "unevaluatedItems":
		return sound(n, w.d) && !slices.ContainsFunc(f.rest, func(o *node) bool { return evaluates[o.Key] && !w.keeps(f, o) })
	case "not", "if", "then", "else", "contains", "dependentSchemas", "dependencies", "contentSchema":
		return sound(n, w.d)
	case "default":
		fits := f.types.IsSingle() && f.types.Accepts(n.Type()) && !(f.types == tInteger && n.Type() == tNumber)
		return w.d.raw || fits && n.Kind != jsonschema.Null
	}
	return true
}

// evaluates are keywords that affect which properties and items are unevaluated.
var evaluates = set("if then else dependentSchemas dependencies contains")

// safeNumber reports whether all JSON parsers read the same number.
func safeNumber(n *node) bool {
	if n.Kind != jsonschema.Number {
		return true
	}
	digits := strings.TrimPrefix(n.Text, "-")
	small := len(digits) < 16 || len(digits) == 16 && digits <= "9007199254740991"
	return !strings.ContainsAny(digits, "eE") && (small || strings.Contains(digits, "."))
}

// rounded writes an exclusive bound of an integer as an inclusive one and returns nil, or
// returns n unchanged.
func (w *writer) rounded(out *node, f *form, n *node) *node {
	key := "minimum"
	by := int64(1)
	switch n.Key {
	case "exclusiveMinimum":
	case "exclusiveMaximum":
		key = "maximum"
		by = -1
	default:
		return n
	}
	v, ok := jsonschema.Decimal(n.Text)
	if f.types != tInteger || !w.d.keep[key] || f.keyword(key) != nil || !ok || !v.IsInt() || !v.Num().IsInt64() || v.Num().BitLen() > 60 {
		return n
	}
	w.put(out, key, w.literal(jsonschema.Number, strconv.FormatInt(v.Num().Int64()+by, 10)))
	return nil
}

// constrains reports whether a keyword applies to one of the types.
func constrains(key string, t types) bool {
	about := jsonschema.Keywords[key].Types
	return about == 0 || about&t != 0
}

// notSimple matches what simple regular expression engines lack: lookaround, boundaries,
// classes, code points and back references.
var notSimple = regexp.MustCompile(`(?s)\(\?|\\[bBpu]|^(?:[^\\]|\\[^1-9k])*\\[1-9k]`)

// simple reports whether simple engines can read a pattern.
func simple(pattern string) bool { return len(pattern) <= 200 && !notSimple.MatchString(pattern) }

// hasRef reports whether a reference or an anchor occurs anywhere below n.
func hasRef(n *node) bool {
	return slices.ContainsFunc(n.Kids, func(k *node) bool {
		return n.Kind == jsonschema.Object && k.Kind == jsonschema.String && jsonschema.NamesPlace(k.Key) || hasRef(k)
	})
}
