package schema

import (
	"slices"
	"strings"
)

// keywords writes what the dialect keeps and puts the rest into words.
func (w *writer) keywords(out *node, f *form, notes *[]string) {
	for _, n := range f.rest {
		if out.get(n.key) != nil {
			continue // what was made of the structure is tighter
		}
		if w.keeps(f, n) {
			w.put(out, n.key, w.given(n))
			continue
		}
		if n = w.rounded(out, f, n); n == nil {
			continue
		}
		w.note(f, n, notes)
	}
}

// note puts a keyword that is not sent into words. Two bounds make one sentence.
func (w *writer) note(f *form, n *node, notes *[]string) {
	note := noteOf(n)
	if len(n.key) > 3 && n.kind == numberKind {
		switch rest := n.key[3:]; n.key[:3] {
		case "min":
			if high := f.keyword("max" + rest); high != nil && !w.keeps(f, high) {
				note = n.text + " to " + high.text + unit(n.key)
				if n.text == high.text {
					note = n.text + unit(n.key)
				}
			}
		case "max":
			if low := f.keyword("min" + rest); low != nil && !w.keeps(f, low) {
				w.changeAt(n, Constraint, "described")
				return
			}
		}
	}
	if len(note) > 400 {
		note = "Further rules are checked when called."
	}
	if note != "" {
		*notes = append(*notes, note)
		w.changeAt(n, Constraint, "described")
	} else if !annotations[n.key] {
		w.changeAt(n, Constraint, "dropped")
	}
}

// keeps tells whether the dialect takes the keyword with this value here.
func (w *writer) keeps(f *form, n *node) bool {
	if !w.d.keep[n.key] || !fitsType(n.key, f.types) && w.d.needType || w.r.refs && hasRef(n) {
		return false
	}
	if w.d.safeNumbers && !safeNumber(n) {
		return false
	}
	switch n.key {
	case "unevaluatedProperties", "unevaluatedItems":
		return sound(n, w.d) && !slices.ContainsFunc(f.rest, func(o *node) bool { return evaluates[o.key] && !w.keeps(f, o) })
	case "not", "if", "then", "else", "contains", "dependentSchemas", "dependencies", "contentSchema":
		return sound(n, w.d)
	case "format":
		return w.d.formats == nil || w.d.formats[n.text]
	case "pattern":
		return !w.d.simpleRegex || simple(n.text)
	case "minItems":
		return !w.d.smallMin || n.text == "0" || n.text == "1"
	case "default":
		scalar := n.kind != objectKind && n.kind != arrayKind && n.kind != nullKind
		return w.d.raw || scalar && f.types.single() && f.types.holds(valueType(n)) && !(f.types == tInteger && valueType(n) == tNumber)
	}
	return true
}

// evaluates are the keywords whose absence would change what is unevaluated.
var evaluates = set("if then else dependentSchemas dependencies contains")

// safeNumber tells whether every reader takes the number for the same one.
func safeNumber(n *node) bool {
	if n.kind != numberKind {
		return true
	}
	digits := strings.TrimPrefix(n.text, "-")
	return !strings.ContainsAny(digits, "eE") && (len(digits) < 16 || strings.Contains(digits, ".") || len(digits) == 16 && digits <= "9007199254740991")
}

// rounded writes a strict bound of an integer as the bound next to it. It gives nil then.
func (w *writer) rounded(out *node, f *form, n *node) *node {
	key, by := "minimum", int64(1)
	switch n.key {
	case "exclusiveMinimum":
	case "exclusiveMaximum":
		key, by = "maximum", -1
	default:
		return n
	}
	v, ok := number(n.text)
	if f.types != tInteger || !w.d.keep[key] || f.keyword(key) != nil || !ok || !v.IsInt() || !v.Num().IsInt64() || v.Num().BitLen() > 60 {
		return n
	}
	w.put(out, key, w.literal(numberKind, i64toa(v.Num().Int64()+by)))
	return nil
}

// fitsType tells whether a keyword says something about one of the types.
func fitsType(key string, t types) bool {
	switch key {
	case "minLength", "maxLength", "pattern":
		return t&tString != 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return t&(tInteger|tNumber) != 0
	case "minItems", "maxItems", "uniqueItems":
		return t&tArray != 0
	case "minProperties", "maxProperties":
		return t&tObject != 0
	case "format":
		return t&(tString|tInteger|tNumber) != 0
	}
	return true
}

// simple tells whether a pattern has nothing that small grammars lack.
func simple(pattern string) bool {
	return len(pattern) <= 200 && !strings.Contains(pattern, "(?") && !strings.Contains(pattern, `\b`) && !strings.Contains(pattern, `\B`) &&
		!strings.Contains(pattern, `\p`) && !strings.Contains(pattern, `\u`) && !backReference(pattern)
}

func backReference(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			if c := pattern[i+1]; c >= '1' && c <= '9' || c == 'k' {
				return true
			}
			i++
		}
	}
	return false
}

// hasRef tells whether a reference, or what one may lead to, stands anywhere below n.
func hasRef(n *node) bool {
	if n.kind == objectKind && slices.ContainsFunc(n.kids, func(k *node) bool { return named[k.key] && k.kind == stringKind }) {
		return true
	}
	return slices.ContainsFunc(n.kids, hasRef)
}
