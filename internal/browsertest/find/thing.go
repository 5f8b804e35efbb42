package find

import "slices"

// things are the parts of the page that are meant themselves: the dialog, the row of SO-1003.
func (s *search) things(p place) (list []candidate) {
	scopes := s.scopes(p)
	if len(scopes) == 0 && p.word != nil && p.word.box {
		return s.boxes(p)
	}
	for _, sc := range scopes {
		c := candidate{node: s.x.page.Node(sc.from), score: isEqual, why: "is called so, and of that kind", kind: true}
		switch {
		case p.name.empty() && !p.row:
			c.score = isOnlyOne
			c.why = "is of that kind"
		case sc.grade != whole:
			c.score = isWithin
			c.why = "is of that kind, and has the words"
		}
		list = append(list, c)
	}
	return list
}

// boxes are plain boxes with a title, as pages build dialogs and cards that they give no role.
func (s *search) boxes(p place) (list []candidate) {
	bars, around := s.x.titled(p)
	for _, n := range slices.Concat(around, bars) {
		list = append(list, candidate{node: n, score: isText, why: "is a box with that title", kind: true})
	}
	return list
}

// near are the elements that may be meant where none was found: doubtful ones, and those of the same
// name but another kind. A quoted name leaves no doubt.
func (s *search) near(readings []reading) (list []candidate) {
	list = slices.Clone(s.found)
	for i := range readings {
		r := readings[i]
		if r.exact || r.name.empty() || r.role == nil && r.thing == nil {
			continue
		}
		ofThing := r.thing != nil
		r.role = nil
		r.thing = nil
		r.variants = s.x.syn.variants(r.name, false)
		for _, c := range s.inPlaces(s.named(&r), &r) {
			plain := slices.Contains([]string{"generic", "text", "paragraph"}, c.node.Role) || ofThing && !is(c.node, control)
			if plain && c.score >= isAlike-2*looseCost {
				list = append(list, c)
			}
		}
	}
	return list
}
