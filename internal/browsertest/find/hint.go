package find

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Hint is what the page's source says about an element without a name, or a piece of text in another.
type Hint struct {
	Selector string `json:"selector"` // addresses this element alone
	Role     string `json:"role"`
	ID       string `json:"id"`
	Class    string `json:"class"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	TestID   string `json:"testid"`
	Href     string `json:"href"` // of the link, or of the drawing that an icon uses

	Near  []string `json:"near"`  // the texts that stand with it, where the page has others like it
	Names []string `json:"names"` // of a piece of text: what it says, and its title; none for another element
	Acts  bool     `json:"acts"`  // of a piece of text: something shows that it can be pressed
}

var (
	camelCase = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	signs     = regexp.MustCompile(`[^\pL\d]+`)
)

// tokens are the names that the source uses, each cut into its words.
func (h *Hint) tokens() (list [][]word) {
	for s := range strings.FieldsSeq(strings.Join([]string{h.ID, h.Class, h.Name, h.TestID, h.Href, h.Title}, " ")) {
		s = camelCase.ReplaceAllString(s, "$1 $2")
		list = append(list, read(signs.ReplaceAllString(s, " ")).words)
	}
	return list
}

// FindPiece finds the one piece of text that is called exactly as the description says; nil for none. Of
// several the one counts that can be pressed. What is said to be a button or an icon must be such a one.
func FindPiece(q Query, hints []Hint) *Hint {
	if q.Action != Click {
		return nil
	}
	var acting, all []*Hint
	for i := range hints {
		h := &hints[i]
		called := func(r reading) bool {
			if r.nth != 0 || r.page || !r.extra.empty() || r.name.empty() || !h.standsIn(r.places) {
				return false
			}
			node := snapshot.Node{Role: h.Role, Pointer: h.Acts}
			isKind := r.role == nil || r.role.isText() || h.Acts && r.role.accepts(&node) > 0
			return isKind && slices.ContainsFunc(h.Names, func(name string) bool { return read(name).equal(r.name) })
		}
		if len(h.Names) == 0 || !slices.ContainsFunc(describe(q.Text, defaultSynonyms).readings(), called) {
			continue
		}
		all = append(all, h)
		if h.Acts {
			acting = append(acting, h)
		}
	}
	switch {
	case len(acting) == 1:
		return acting[0]
	case len(all) == 1:
		return all[0]
	}
	return nil
}

// standsIn tells whether the places of a reading, of which there may be one, are a text that stands with
// the element.
func (h *Hint) standsIn(places []place) bool {
	if len(places) == 0 {
		return true
	}
	p := places[0]
	return len(places) == 1 && p.nth == 0 && slices.ContainsFunc(h.Near, func(text string) bool { return read(text).equal(p.name) })
}

// FindHint finds the one nameless element whose source has all words of the description; nil for none.
func FindHint(q Query, hints []Hint) *Hint {
	found := map[*Hint]bool{}
	for _, r := range describe(q.Text, defaultSynonyms).readings() {
		if r.name.empty() || r.nth != 0 || r.exact {
			continue
		}
		for i := range hints {
			if len(hints[i].Names) > 0 || !hints[i].standsIn(r.places) {
				continue
			}
			node := snapshot.Node{Role: hints[i].Role, Pointer: true}
			if r.role.accepts(&node) > 0 && fit(&node, q.Action) > 0 && hints[i].says(defaultSynonyms.variants(r.name, true)) {
				found[&hints[i]] = true
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return slices.Collect(maps.Keys(found))[0]
}

// says tells whether the source has all words of a variant, and none that changes them: btn-save-as.
func (h *Hint) says(variants []phrase) bool {
	tokens := h.tokens()
	return slices.ContainsFunc(variants, func(v phrase) bool {
		other := func(w word) bool { return indexOf(v.words, w) < 0 && (turnsAway(w) || particles[w.text]) }
		for _, w := range v.words {
			has := func(token []word) bool {
				return slices.ContainsFunc(token, w.same) && !slices.ContainsFunc(token, other)
			}
			if !slices.ContainsFunc(tokens, has) {
				return false
			}
		}
		return !v.empty()
	})
}
