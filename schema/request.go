package schema

import (
	"slices"
)

// request is what a provider limits across all strict tools of one request.
type request struct {
	tools, optional, unions int
	all                     bool // either all tools are strict or none
}

var requests = map[Dialect]request{
	AnthropicStrict: {tools: 20, optional: 24, unions: 16},
	DeepSeekStrict:  {all: true},
}

// CountsTools reports whether the provider limits the strict tools of one request together, so that
// how one tool is written may depend on the others.
func (d Dialect) CountsTools() bool {
	_, counted := requests[d]
	return counted
}

// Loosen returns the indexes of results that must be planned again in the plain dialect,
// because the strict ones together exceed the provider's limits. The most expensive tools go
// first.
func Loosen(d Dialect, list []*Result) []int {
	limit, counted := requests[d]
	if !counted {
		return nil
	}
	type cost struct{ at, optional, unions int }
	var strict []cost
	var sum cost
	for i, res := range list {
		if !res.Strict {
			continue
		}
		c := cost{at: i}
		var t tree
		if root, err := t.Parse(res.Parameters); err == nil {
			c.optional, c.unions = optionals(root)
		}
		sum.optional = sum.optional + c.optional
		sum.unions = sum.unions + c.unions
		strict = append(strict, c)
	}
	var out []int
	if limit.all {
		if len(strict) < len(list) {
			for _, c := range strict {
				out = append(out, c.at)
			}
		}
		return out
	}
	slices.SortStableFunc(strict, func(a, b cost) int { return b.optional + b.unions - a.optional - a.unions })
	for _, c := range strict {
		if len(strict)-len(out) <= limit.tools && sum.optional <= limit.optional && sum.unions <= limit.unions {
			break
		}
		out = append(out, c.at)
		sum.optional = sum.optional - c.optional
		sum.unions = sum.unions - c.unions
	}
	slices.Sort(out)
	return out
}

// optionals counts the optional properties and the unions of a written schema.
func optionals(n *node) (optional, unions int) {
	if props := n.Get("properties"); props != nil {
		optional = len(props.Kids) - len(n.Get("required").Elements())
	}
	for _, kid := range n.Members() {
		if kid.Key == "anyOf" {
			unions++
		}
		kid.Schemas(func(inner *node) {
			o, u := optionals(inner)
			optional += o
			unions += u
		})
	}
	return optional, unions
}
