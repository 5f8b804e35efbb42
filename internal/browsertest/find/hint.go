package find

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Hint is what the page's source says about an element without a name.
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

// FindHint finds the one nameless element whose source has all words of the description; nil for none.
func FindHint(q Query, hints []Hint) *Hint {
	found := map[*Hint]bool{}
	for _, r := range describe(q.Text, defaultSynonyms).readings() {
		if r.name.empty() || r.nth != 0 || r.exact || len(r.places) > 0 {
			continue
		}
		for i := range hints {
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
