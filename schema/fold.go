package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// finish folds null, unions, enums and types into each other. It changes f, which must not be
// shared yet.
func (r *reader) finish(f *form) *form {
	if f.never {
		return f
	}
	null := f.null || f.types&tNull != 0
	said := f.types != 0
	if f.types != tNull {
		f.types &^= tNull
	}
	if f.listed {
		null = r.finishEnum(f, null || !said)
		said = true
	}
	if f.union != nil && !f.never {
		if folded := r.finishUnion(f, null || !said); folded != f {
			return folded
		}
		null = f.null
	}
	f.null = null && f.types != tNull && (f.types != 0 || f.listed || f.union != nil)
	return f
}

// seal turns unevaluatedProperties: false into additionalProperties: false, after everything
// that evaluates properties has been merged.
func (r *reader) seal(f *form) *form {
	if f.dynamic {
		f.rest = slices.DeleteFunc(slices.Clone(f.rest), isUnevaluated)
	}
	conditional := f.keyword("if") != nil || f.keyword("dependentSchemas") != nil || f.keyword("dependencies") != nil
	if v := f.keyword("unevaluatedProperties"); v.IsFalse() && f.union == nil && !conditional {
		f.rest = slices.DeleteFunc(slices.Clone(f.rest), func(n *node) bool { return n == v })
		if f.more == nil {
			f.more = r.at(v)
		}
	}
	return f
}

// finishEnum removes null and values that the type excludes. It reports whether null is
// accepted.
func (r *reader) finishEnum(f *form, null bool) bool {
	kept := make([]*node, 0, len(f.enum))
	hasNull := f.null
	for _, v := range f.enum {
		switch {
		case v.Kind == jsonschema.Null:
			hasNull = true
		case f.types == 0 || f.types.Accepts(v.Type()):
			kept = append(kept, v)
		}
	}
	f.enum = kept
	null = null && hasNull
	if len(kept) == 0 {
		f.enum = nil
		f.listed = false
		f.types = tNull
		f.never = !null
	}
	return null
}

// finishUnion folds the branches. It returns another form when only one is left.
func (r *reader) finishUnion(f *form, null bool) *form {
	var kept []*form
	hasNull := f.null
	for _, b := range f.union {
		o := r.open(b)
		switch {
		case o.never:
			continue
		case o.types == tNull && !o.listed:
			hasNull = true
			continue
		case o.union != nil && !o.one && !f.one && r.onlyUnion(o):
			hasNull = hasNull || o.null
			kept = append(kept, o.union...)
			continue
		}
		hasNull = hasNull || o.null || o.bare() // an object without a type hardly means null
		if len(f.union) <= 64 && slices.ContainsFunc(kept, func(k *form) bool { return same(k, o) }) {
			continue
		}
		kept = append(kept, o)
	}
	f.null = null && hasNull
	if enum := r.oneEnum(kept); enum != nil && !f.listed {
		f.enum = enum
		f.listed = true
		f.union = nil
		f.types = f.types.And(tString)
		return f
	}
	switch {
	case len(kept) == 0 && f.null:
		f.union = nil
		f.types = tNull
		f.null = false
		return f
	case len(kept) == 0:
		f.never = true
		return f
	case len(kept) > 1:
		f.union = kept
		return f
	}
	f.union = nil
	f.one = false
	branch := kept[0]
	accepts := f.null
	alone := *f
	alone.null = alone.null && !accepts
	if alone.bare() {
		f.null = false
		out := r.overlay(branch, f)
		if accepts && !out.acceptsNull() {
			out = out.withNull()
		}
		return out
	}
	if accepts && !branch.acceptsNull() {
		branch = branch.withNull()
	}
	out := r.merge(f, branch)
	out.null = accepts && out.types != tNull
	return out
}

func (r *reader) onlyUnion(f *form) bool {
	c := *f
	c.union = nil
	c.null = false
	return c.bare() && f.desc == "" && f.title == ""
}

// oneEnum returns all values if every branch is a plain enum of strings.
func (r *reader) oneEnum(branches []*form) []*node {
	var all []*node
	for _, b := range branches {
		if !b.listed || b.types&^tString != 0 || b.null || b.desc != "" || b.title != "" || len(b.rest) > 0 || len(b.notes) > 0 {
			return nil
		}
		for _, v := range b.enum {
			if v.Kind != jsonschema.String {
				return nil
			}
		}
		all = append(all, b.enum...)
	}
	return jsonschema.Distinct(all)
}

// same reports whether two forms have the same source or definition.
func same(a, b *form) bool {
	if a == b || a.base != nil && a.base == b.base && a.desc == b.desc && a.null == b.null {
		return true
	}
	return !a.mixed && !b.mixed && a.base == nil && b.base == nil && jsonschema.Equal(a.src, b.src)
}
