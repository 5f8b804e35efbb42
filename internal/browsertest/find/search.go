package find

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// candidate is an element that may be meant.
type candidate struct {
	node  *snapshot.Node
	score float64
	why   string
	rival bool   // it may be confused with what is meant, and is not that itself
	kind  bool   // it is of the kind that was said
	label string // the text beside it that it goes by; "": a name of its own
	typed bool   // its input type was said
}

func newSearch(x *Index, q Query) *search {
	return &search{
		x: x, query: q, byName: map[nameKey][]candidate{}, byPlace: map[placeKey][]scope{}, chains: map[chainKey]grade{},
		called: map[string]bool{}, calls: map[rowsKey]bool{}, labels: map[string]bool{},
	}
}

// search is one look-up.
type search struct {
	x     *Index
	query Query
	found []candidate // the winners of each reading
	top   float64     // the best score so far
	short string      // why a counted element is not there

	byName  map[nameKey][]candidate
	byPlace map[placeKey][]scope
	chains  map[chainKey]grade
	called  map[string]bool
	calls   map[rowsKey]bool
	labels  map[string]bool // whether something is labeled so
}

// read looks for the element as one reading understands it.
func (s *search) read(r *reading) {
	if r.uncut != nil && slices.ContainsFunc(s.scopes(*r.uncut), func(sc scope) bool { return sc.grade == whole }) {
		return // "Crash on startup" is there as a whole, and no crash on a startup
	}
	if r.seam != "" && s.x.hasName(r.seam) {
		return
	}
	list := s.inPlaces(s.named(r), r)
	for i := range list {
		list[i].score -= r.cost
	}
	if r.nth != 0 {
		list = s.counted(list, r)
	} else {
		list = s.preferDialog(list)
	}
	s.keep(winners(list))
}

// keep adds what is not behind already.
func (s *search) keep(list []candidate) {
	for _, c := range list {
		if c.score > s.top-lead {
			s.found = append(s.found, c)
			s.top = max(s.top, c.score)
		}
	}
}

// named are the elements with the name and role of a reading, anywhere. The list is shared: read-only.
func (s *search) named(r *reading) []candidate {
	if r.thing != nil {
		return s.things(*r.thing)
	}
	key := nameKey{r.name.text, r.extra.text, r.exact, r.page, r.role}
	return memo(s.byName, key, func() (list []candidate) {
		matches := map[labelKey]*match{}
		for _, n := range s.x.serving(s.query.Action) {
			if c, ok := s.candidate(n, r, matches); ok {
				list = append(list, c)
			}
		}
		if len(list) == 0 && r.name.empty() {
			list = s.onlyOne(r)
		}
		return list
	})
}

type labelKey struct {
	text   string
	source source
}

type nameKey struct {
	name, extra string
	exact, page bool
	role        *roleWord
}

// candidate scores one element by its own labels, its role and what the action needs.
func (s *search) candidate(n *snapshot.Node, r *reading, matches map[labelKey]*match) (candidate, bool) {
	role := s.x.isOf(n, r.role)
	if role == 0 || role == 1 && r.doesTo(n) {
		return candidate{}, false
	}
	c := candidate{node: n}
	if r.name.empty() {
		if role < 2 {
			return c, false
		}
		if r.nth == 0 && r.role.ofContent() && s.x.saysOther(n) {
			return c, false
		}
		c.score = isOnlyOne
		c.why = "is of that kind"
	}
	for _, l := range s.x.labelsOf(n) {
		if r.name.empty() {
			break
		}
		m := memo(matches, labelKey{l.text, l.source}, func() *match { return s.compare(l, r) })
		score := m.score
		why := m.why
		rival := m.rival
		if score == 0 || score == isWithin && !s.mayBePart(n, r, m) || !s.mayClick(n, r, m, l.source) {
			continue
		}
		if score == isWithin && s.isOther(n, r, m, l) {
			score = isRival
			rival = true
		}
		if m.weak && s.query.Action != Fill && s.query.Action != Select {
			score = isWithin
		}
		if m.rest != nil {
			score, why = s.around(n, r.name, m)
		}
		if l.source == byContent && score < isEqual {
			continue // who says a part of it means that part
		}
		if s.query.Action == Click && r.role == nil && l.source == byNearby && is(n, checkable) {
			score -= 2 * looseCost // what is clicked by its text is mostly the text, or a button called so
		}
		score -= sourceCost[l.source]
		if score > c.score {
			c = candidate{node: n, score: score, why: why, rival: rival}
			if l.source == byNearby || l.source == byCaption && l.raw != n.Placeholder {
				c.label = l.raw
			}
		}
	}
	if c.score <= 0 || r.page && !s.x.inPager(n) { // a day of a calendar, a count
		return c, false
	}
	if role == 1 && r.role.ofContent() && c.score <= isAround {
		return c, false // a "New email" is no "new password field"
	}
	if role == 1 || r.role == nil && fit(n, s.query.Action) == 1 {
		c.score -= looseCost
	}
	if s.query.Action == Click && s.x.labelsField(n) {
		c.score -= looseCost
	}
	c.kind = r.role != nil
	c.typed = r.role != nil && len(r.role.types) > 0 && !slices.Contains(r.role.strict, n.Role)
	fits := s.extra(&c, r)
	return c, fits
}

// compare holds a label against a reading; a label that many elements share is compared once.
func (s *search) compare(l label, r *reading) *match {
	m := r.compare(l.phrase)
	if m.why != "" {
		m.why += " by its " + sourceNames[l.source]
	}
	m.left = phraseOf(telling(m.rest))
	m.absent = !s.x.knowsAll(m.left)
	return &m
}

// isOther tells whether an element whose label has the words is another thing: it does something with
// the name, another element has exactly that label, or "America" was said of "South America".
func (s *search) isOther(n *snapshot.Node, r *reading, m *match, l label) bool {
	switch {
	case is(n, field): // "Zip / postal code" has two names, but an instance is no "Instance group"
		return s.labelsOther(r.name) || goesOn(l.phrase, r.name) && !strings.ContainsAny(n.Name, "/(,|")
	case is(n, checkable) || n.Role == "option" || n.Role == "treeitem":
		selects := s.query.Action == Click && l.words[0].text == "select" && indexOf(r.name.words, l.words[0]) < 0
		return m.does || selects || len(l.words) == 2 && len(r.name.words) == 1 && l.words[0].kind == latin && l.words[1].kind == latin
	}
	return m.does
}

// mayBePart tells whether an element may be named by a part of its name.
func (s *search) mayBePart(n *snapshot.Node, r *reading, m *match) bool {
	switch {
	case is(n, field):
		return s.query.Action != Click || r.role != nil
	case is(n, checkable):
		return m.does || r.role.accepts(n) == 2
	}
	return true
}

// mayClick tells whether a click may mean an element: a field only by its own name.
func (s *search) mayClick(n *snapshot.Node, r *reading, m *match, from source) bool {
	if s.query.Action != Click || r.role != nil || !is(n, field) {
		return true
	}
	return m.score != isSynonym && (from != byCaption || m.score >= isEqual)
}

// extra holds the words beside a quoted name against what is around the element.
func (s *search) extra(c *candidate, r *reading) bool {
	if r.extra.empty() {
		return true
	}
	if !s.x.knowsAll(r.extra) {
		return false
	}
	switch s.chain(c.node, r.extra) {
	case whole:
		return true
	case inRow:
		c.score -= partCost
		return true
	}
	return false
}

// inPlaces keeps the candidates that stand in every place of the reading, in a list of its own.
func (s *search) inPlaces(list []candidate, r *reading) []candidate {
	if len(r.places) == 0 {
		return slices.Clone(list)
	}
	for _, p := range r.places {
		if len(list) == 0 {
			break
		}
		var matching []candidate
		scopes := s.scopes(p)
		for _, c := range list {
			g := none
			for _, sc := range scopes {
				if sc.holds(c.node) && (sc.from != c.node.Index || sc.level > 0) {
					g = max(g, sc.grade)
				}
			}
			if g == none {
				continue
			}
			if g == part {
				c.score -= partCost
			}
			c.why += ", in its place"
			matching = append(matching, c)
		}
		if len(matching) == 0 && len(scopes) == 0 { // else the place is there, and it is not in it
			matching = s.aboutText(list, p)
		}
		list = matching
	}
	return list
}

// readTexts looks for an element that is no control but whose text is the name.
func (s *search) readTexts(r *reading) {
	if r.name.empty() || r.page || r.nth != 0 || !s.x.knowsAll(r.name) {
		return
	}
	var list []candidate
	for n := range s.x.page.All() {
		if n.Ref == "" || n.Index == 0 || fit(n, Click) > 0 || is(n, heading|landmark) {
			continue
		}
		as := r.role.accepts(n)
		// What is called a button but is plain text must at least stand where it was said to be.
		if as == 0 || as == 1 && len(r.places) == 0 && !r.role.isText() || inControl(n) || s.x.behind(n) {
			continue
		}
		c := candidate{node: n, score: isText - r.cost, why: "its text is exactly that"}
		called := func(l label) bool { return l.equal(r.name) }
		if slices.ContainsFunc(s.x.labelsOf(n), called) && !s.x.isTitleOf(n) && !s.x.holdsHeading(n) && s.extra(&c, r) {
			list = append(list, c)
		}
	}
	s.keep(winners(s.inPlaces(list, r)))
}
