package find

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Error says that no element was chosen, and why.
type Error struct {
	Code       snapshot.Code
	Query      string
	Count      int         // how many answer alike
	Candidates []Candidate // the nearest, at most five
	Hint       string      // what would make it one
	NeedsPage  bool        // a selector that only the browser can resolve
	Near       bool        // the candidates may be what is meant: it cannot be said to be gone
	Kind       bool        // what answers is of the kind that was said
}

// doubt puts those elements first that may be what is meant after all.
func (r *Error) doubt(x *Index, near []candidate) {
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var list []Candidate
	for _, c := range near {
		shown := x.show(c)
		if !slices.ContainsFunc(list, func(o Candidate) bool { return o.Path == shown.Path }) {
			list = append(list, shown)
		}
	}
	r.Near = len(list) > 0
	if r.Near {
		r.Candidates = list[:min(len(list), maxCandidates)]
	}
}

// Candidate is an element that came near.
type Candidate struct {
	Ref   string  `json:"ref,omitempty"`
	Role  string  `json:"role"`
	Name  string  `json:"name"`
	Path  string  `json:"path"` // dialog 确认删除 > button 取消
	Score float64 `json:"score"`
	Why   string  `json:"why"`
}

const maxCandidates = 5

// Brief is the message without the candidates.
func (r *Error) Brief() string {
	if r.Hint != "" {
		return fmt.Sprintf("%s (%s)", r.said(), r.Hint)
	}
	return r.said()
}

func (r *Error) said() string {
	switch r.Code {
	case snapshot.Ambiguous:
		return fmt.Sprintf("%q means %d elements", r.Query, r.Count)
	case snapshot.NotFound:
		return fmt.Sprintf("no element is %q", r.Query)
	}
	return fmt.Sprintf("%q cannot be looked for", r.Query)
}

// ErrorCode is the code.
func (r *Error) ErrorCode() snapshot.Code { return r.Code }

func (r *Error) Error() string {
	text := r.said()
	if len(r.Candidates) > 0 {
		var paths []string
		for _, c := range r.Candidates {
			paths = append(paths, c.Path)
		}
		joint := ": "
		if r.Code == snapshot.NotFound {
			joint = "; near: "
		}
		text += joint + strings.Join(paths, "; ")
	}
	if r.Hint != "" {
		text += " (" + r.Hint + ")"
	}
	return text
}

func (s *search) ambiguous(top []candidate) error {
	r := &Error{Code: snapshot.Ambiguous, Query: s.query.Text, Count: len(top), Kind: top[0].kind}
	for _, c := range top[:min(len(top), maxCandidates)] {
		r.Candidates = append(r.Candidates, s.x.show(c))
	}
	switch a, b := top[0].node, top[1].node; {
	case s.x.rowText(a) != s.x.rowText(b):
		r.Hint = fmt.Sprintf("add the row: %s", s.x.rowText(a))
	case s.x.Path(a.Parent) != s.x.Path(b.Parent):
		r.Hint = fmt.Sprintf("add where it stands: %s", s.x.Path(a.Parent))
	default:
		r.Hint = "say which one: 第2个, second"
	}
	return r
}

func (s *search) notFound() error {
	r := &Error{Code: snapshot.NotFound, Query: s.query.Text, Hint: s.short}
	if r.Hint == "" && s.query.Within != "" {
		r.Hint = fmt.Sprintf("it was looked for in %q alone", s.query.Within)
	}
	if r.Hint == "" && s.query.Action != Any && slices.ContainsFunc(s.x.dialogs, s.x.isModal) {
		r.Hint = "a modal dialog is open, and what lies behind it was left out"
	}
	d := describe(s.query.Text, s.x.syn)
	want := read(strings.Join(append(d.quotes, d.text), " "))
	var list []candidate
	known := map[string]float64{}
	for _, n := range s.x.serving(s.query.Action) {
		best := 0.0
		for _, l := range s.x.labelsOf(n) {
			best = max(best, memo(known, l.text, func() float64 { return overlap(want, l.phrase) }))
		}
		if best > 0 {
			list = append(list, candidate{node: n, score: best * 0.5, why: "shares some words"})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.node.Index-b.node.Index)
	})
	for _, c := range list[:min(len(list), maxCandidates)] {
		r.Candidates = append(r.Candidates, s.x.show(c))
	}
	return r
}

// overlap is the share of characters in pairs that two phrases have in common.
func overlap(a, b phrase) float64 {
	x := pairs(a.joined)
	y := pairs(b.joined)
	common := 0
	for p := range x {
		if y[p] {
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return 2 * float64(common) / float64(len(x)+len(y))
}

func pairs(s string) map[[2]rune]bool {
	m := map[[2]rune]bool{}
	before := rune(0)
	for _, r := range s {
		if before != 0 {
			m[[2]rune{before, r}] = true
		}
		before = r
	}
	if len(m) == 0 && before != 0 {
		m[[2]rune{before}] = true
	}
	return m
}

// Candidate describes an element for people.
func (x *Index) show(c candidate) Candidate {
	return Candidate{Ref: x.actOn(c.node), Role: c.node.Role, Name: x.called(c.node), Path: x.Path(c.node), Score: round(c.score), Why: c.why}
}

func round(score float64) float64 { return float64(int(score*100+0.5)) / 100 }

// called is the name that people would use for an element.
func (x *Index) called(n *snapshot.Node) string {
	if n.Name != "" {
		return x.mask(n.Name)
	}
	if labels := x.labelsOf(n); len(labels) > 0 && n.Text == "" {
		return x.shown(labels[0].phrase)
	}
	return x.mask(n.Text)
}

// shown is a text as the page writes it, masked.
func (x *Index) shown(p phrase) string { return x.mask(cmp.Or(p.raw, p.text)) }

// Path is where an element is: the named parts of the page around it, and itself.
func (x *Index) Path(n *snapshot.Node) string {
	if n == nil {
		return ""
	}
	var parts []string
	if n.Role != "generic" || x.called(n) != "" {
		parts = append(parts, strings.TrimSpace(n.Role+" "+clip(x.called(n))))
	}
	for a := n.Parent; a != nil && len(parts) < 4; a = a.Parent {
		switch {
		case is(a, row):
			parts = append(parts, a.Role+" "+clip(x.rowText(n)))
		case is(a, landmark) && a.Role != "main" && a.Role != "table":
			parts = append(parts, strings.TrimSpace(a.Role+" "+clip(x.shown(x.placeName(a)))))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, " > ")
}

// rowText is what the row of an element says; "" outside of rows.
func (x *Index) rowText(n *snapshot.Node) string {
	for a := n; a != nil; a = a.Parent {
		if !is(a, row) {
			continue
		}
		var parts []string
		for _, p := range x.pieces(a)[:min(4, len(x.pieces(a)))] {
			parts = append(parts, x.shown(p))
		}
		return clip(strings.Join(parts, " "))
	}
	return ""
}

func clip(s string) string { return visible.Beginning(s, 40) }
