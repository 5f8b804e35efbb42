package find

import "strings"

// placeWord is a word for a kind of place.
type placeWord struct {
	words  []string
	roles  []string
	column bool // the cells of a column, which have no element of their own
	box    bool // is often built of plain boxes, which a page gives no role
}

// placeWords are the words for the roles of WAI-ARIA that are not controls; the roleWords are
// those for controls. The longest match counts.
var placeWords = func() (list []placeWord) {
	for _, line := range wordLists["places"] {
		parts := strings.Split(line, " | ")
		list = append(list, placeWord{
			words:  entriesOf(parts[0]),
			roles:  strings.Fields(parts[1]),
			column: parts[1] == "column",
			box:    len(parts) > 2,
		})
	}
	return list
}()

// frameWords come first.
var frameWords = placeWords[0]
