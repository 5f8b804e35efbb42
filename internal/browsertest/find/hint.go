package find

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Hint is what the page's source says about an element that has no name: what a snapshot
// does not show.
type Hint struct {
	Selector string `json:"selector"` // addresses this element alone
	Role     string `json:"role"`
	ID       string `json:"id"`
	Class    string `json:"class"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	TestID   string `json:"testid"`
	Href     string `json:"href"` // of the link, or of the drawing that an icon uses
}

// tokens are the names that the source uses, each cut into its words at case, signs and digits.
func (h *Hint) tokens() (list [][]word) {
	for s := range strings.FieldsSeq(strings.Join([]string{h.ID, h.Class, h.Name, h.TestID, h.Href, h.Title}, " ")) {
		var b strings.Builder
		lower := false
		for _, r := range s {
			if unicode.IsUpper(r) && lower {
				b.WriteByte(' ')
			}
			lower = unicode.IsLower(r)
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				r = ' '
			}
			b.WriteRune(r)
		}
		list = append(list, read(b.String()).words)
	}
	return list
}

// FindHint finds a nameless element by what the page's source calls it. All words of the
// description must stand there, of one element alone.
func FindHint(q Query, hints []Hint) (*Hint, error) {
	found := map[int]bool{}
	for _, r := range describe(q.Text, defaultSynonyms).readings() {
		if r.name.empty() || r.nth != 0 || r.exact || len(r.places) > 0 {
			continue
		}
		for i := range hints {
			node := snapshot.Node{Role: hints[i].Role, Pointer: true}
			if r.role.accepts(&node) > 0 && fit(&node, q.Action) > 0 && hints[i].says(defaultSynonyms.variants(r.name, true)) {
				found[i] = true
			}
		}
	}
	if len(found) == 1 {
		for i := range found {
			return &hints[i], nil
		}
	}
	code := snapshot.NotFound
	if len(found) > 1 {
		code = snapshot.Ambiguous
	}
	return nil, &Error{Code: code, Query: q.Text, Count: len(found)}
}

// says tells whether the source has all words of one variant, and none in the same name that
// makes another thing of them: btn-save-as is not "save".
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
