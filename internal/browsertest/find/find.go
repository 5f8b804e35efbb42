// Package find finds an element by a description in Chinese or English, or by a selector: a
// snapshot in, one element out, or an error that says why and lists the nearest. It is pure.
//
// It never guesses. Every word of a description must match: the element's own name, what is
// around it (row, dialog, group, heading, frame), or its kind; numbers and identifiers as a
// whole. Where two elements match equally well, none is chosen.
//
//	hit, err := find.New(page, nil).Find(find.Query{Text: "李四的编辑按钮", Action: find.Click})
//	// hit.Node.Ref, hit.Score, hit.Why; err is a *find.Error
package find

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Query is what is looked for.
type Query struct {
	Text   string // a description, or a selector
	Action Action
	Within string // a place that must hold the element, as words; "" for anywhere
	Frame  string // a frame that must hold it, by its title, name or caption, a heading inside, or its number
	Nth    int    // the second of equals is 2, the last is -1; 0 for the only one
}

// Hit is the element that was found.
type Hit struct {
	Node  *snapshot.Node
	Ref   string // what to act on: the element, or the box around it where it has no ref of its own
	Score float64
	Why   string
	Kind  bool // the words say what kind of element it is
	label string
	typed bool // by a word for its input type
}

// Find returns the one element that the query means, or a *Error.
func (x *Index) Find(q Query) (*Hit, error) {
	if sel, ok := ParseSelector(q.Text); ok {
		return x.bySelector(q, sel)
	}
	d := describe(q.Text, x.syn)
	d.looks = q.Action == Any
	readings := d.readings()
	if len(readings) == 0 {
		return nil, &Error{Code: snapshot.StepInvalid, Query: q.Text, Hint: "say which element is meant"}
	}
	s := newSearch(x, q)
	readings = askedIn(readings, d.asked(q))
	for i := range readings {
		if q.Nth != 0 {
			readings[i].nth = q.Nth
		}
		s.read(&readings[i])
	}
	if q.Action == Click && s.top < isAlike-looseCost-splitCost { // plain text may be nearer than a control that only holds the words
		for i := range readings {
			s.readTexts(&readings[i])
		}
	}
	hit, err := s.decide()
	var noMatch *Error
	if q.Action == Any && errors.As(err, &noMatch) && noMatch.Code == snapshot.NotFound {
		noMatch.doubt(x, s.near(readings))
	}
	return hit, err
}

// Count is how many elements answer to the query alike. Rows can be counted without a name.
func (x *Index) Count(q Query) int {
	if rowNoun.MatchString(strings.TrimSpace(strings.ToLower(q.Text))) {
		return x.countRows(q)
	}
	q.Nth = 0
	_, err := x.Find(q)
	var r *Error
	switch {
	case err == nil:
		return 1
	case errors.As(err, &r):
		return r.Count
	}
	return 0
}

// rowNoun are the words for the rows of a table or the items of a list.
var rowNoun = regexp.MustCompile(`^(?:表格|列表|数据|the |table |data |list )*` +
	`(?:行|条|项|数据|记录|条目|rows?|records?|items?|entries)(?: (?:in|of) the (?:table|list))?$`)

func (x *Index) countRows(q Query) (count int) {
	s := newSearch(x, q)
	var list []candidate
	for _, n := range x.rows {
		if !x.isHead(n) {
			list = append(list, candidate{node: n, score: isEqual})
		}
	}
	return len(s.inPlaces(list, &reading{places: description{syn: x.syn}.asked(q)[0]}))
}

// asked are the places that the query names besides its text, in every reading, the plainest first.
func (d description) asked(q Query) [][]place {
	list := [][]place{nil}
	if q.Within != "" {
		within := describe(q.Within, d.syn)
		list = within.places(within.text, splitAt{})
	}
	if q.Frame != "" {
		frame := describe(q.Frame, d.syn)
		p := place{word: &placeWord{roles: []string{"iframe"}}, name: read(q.Frame)}
		if n := grammar.Number(frame.text); n > 0 {
			p.nth = n
			p.name = phrase{}
		}
		for i := range list {
			list[i] = append(list[i], p)
		}
	}
	return list
}

// askedIn are the readings in each of the places.
func askedIn(readings []reading, asked [][]place) (list []reading) {
	for i, places := range asked {
		for _, r := range readings {
			r.places = slices.Concat(r.places, places)
			if i > 0 && r.uncut == nil {
				r.uncut = &asked[0][0]
			}
			list = append(list, r)
		}
	}
	return list
}
