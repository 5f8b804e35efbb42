package find

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Action is what will be done with the element. It limits which elements make sense.
type Action string

const (
	Any    Action = ""       // nothing is done: the element is only looked at
	Click  Action = "click"  // also double-click, hover, drag, upload
	Fill   Action = "fill"   // typing and clearing
	Select Action = "select" // choosing an option
	Check  Action = "check"  // and unchecking
	Choose Action = "choose" // an option of a closed list, which has no ref of its own
)

// trait is what kind of element a role stands for. A role has several.
type trait uint16

const (
	editable  trait = 1 << iota // takes text
	choosable                   // has options
	checkable
	pressable
	field    // holds a value
	landmark // a part of the page that may have a name
	row      // one of many alike
	dialog
	cell
	table
	heading
	control = pressable | field
)

// traits are those of the roles that mean something here.
var traits = readTraits(map[trait]string{
	editable:  "textbox searchbox spinbutton combobox slider",
	choosable: "combobox listbox",
	checkable: "checkbox radio switch menuitemcheckbox menuitemradio",
	pressable: "button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem",
	field:     "textbox searchbox spinbutton combobox slider listbox",
	landmark: "navigation banner main contentinfo complementary search form region group dialog alertdialog toolbar tabpanel " +
		"table grid treegrid list menu menubar tree tablist radiogroup figure iframe listbox",
	row:     "row listitem article treeitem",
	dialog:  "dialog alertdialog",
	cell:    "cell gridcell",
	table:   "table grid treegrid",
	heading: "heading",
})

func readTraits(roles map[trait]string) map[string]trait {
	m := map[string]trait{}
	for t, names := range roles {
		for name := range strings.FieldsSeq(names) {
			m[name] |= t
		}
	}
	return m
}

// is tells whether an element has any of the traits.
func is(n *snapshot.Node, t trait) bool { return traits[n.Role]&t != 0 }

// holder is the nearest part of the page around a node that has one of the traits; nil for none.
func holder(n *snapshot.Node, t trait) *snapshot.Node {
	for a := n.Parent; a != nil; a = a.Parent {
		if is(a, t) {
			return a
		}
	}
	return nil
}

// fit is how well an element serves an action: 0 not at all, 1 as a second choice, 2 well.
func fit(n *snapshot.Node, action Action) int {
	has := traits[n.Role]
	switch action {
	case Fill:
		switch {
		case n.Role == "combobox" && n.First != nil && n.First.Role == "option":
			return 0 // its options can be chosen, but nothing else can be written
		case has&editable != 0:
			return 2
		case n.Role == "generic" && n.Name != "":
			return 1 // editable content
		}
		return 0
	case Select:
		return both(has&choosable != 0)
	case Check:
		return both(has&checkable != 0)
	case Choose:
		list := holder(n, choosable)
		return both(n.Role == "option" && n.Ref == "" && !n.Disabled && list != nil && list.Ref != "")
	case Click:
		switch {
		case has&pressable != 0:
			return 2
		case has&field != 0, n.Role == "img", n.Role == "gridcell", n.Pointer, n.Role == "generic" && n.Name != "":
			return 1
		}
		return 0
	}
	switch {
	case has&control != 0:
		return 2
	case n.Role != "text" && n.Role != "generic", n.Name != "", n.Text != "":
		return 1 // a label says the same as its field
	}
	return 0
}

// CanOpen tells whether a click on an element may open something: it is a control, shows a hand, or has
// such a one in it.
func CanOpen(n *snapshot.Node) bool {
	opens := n.Pointer || is(n, control)
	for m := n.First; m != nil && !opens; m = m.Next {
		opens = CanOpen(m)
	}
	return opens
}

func both(fits bool) int {
	if fits {
		return 2
	}
	return 0
}

// roleWord is a word that says what kind of element is meant.
type roleWord struct {
	words  []string // Chinese ones stand at the end of the name, without a space
	strict []string // the roles that it names
	loose  []string // roles that people call so, too
	types  []string // the input types that it names, which a snapshot does not show
}

// isIcon tells whether the word means something drawn.
func (w *roleWord) isIcon() bool { return w != nil && w.words[0] == "图标" }

// isText tells whether the word means a piece of text.
func (w *roleWord) isText() bool { return w != nil && w.words[0] == "文字" }

// roleWords are tried in order, so that the longer of two words comes first.
var roleWords = func() (list []roleWord) {
	for _, line := range wordLists["roles"] {
		parts := strings.Split(line, " | ")
		named := strings.Fields(strings.TrimPrefix(parts[1], "-"))
		word := roleWord{words: entriesOf(parts[0]), strict: named, loose: strings.Fields(parts[2])}
		if len(parts) > 3 {
			word.types = strings.Fields(parts[3])
		}
		list = append(list, word)
	}
	return list
}()

// accepts says how the element serves the word: 2 it is one, 1 people call it so, 0 it is none.
func (w *roleWord) accepts(n *snapshot.Node) int {
	switch {
	case w == nil, slices.Contains(w.strict, n.Role):
		return 2
	case slices.Contains(w.loose, n.Role):
		return 1
	}
	return 0
}

// takeRole cuts a role word off the words of a name. It never takes a word out of the middle.
func takeRole(name string) (rest string, found *roleWord) {
	for i := range roleWords {
		if rest, ok := takeWord(name, roleWords[i].words); ok {
			return rest, &roleWords[i]
		}
	}
	return name, nil
}

// takePlace cuts the longest word for a kind of place off the words of a context.
func takePlace(name string) (rest string, found *placeWord) {
	rest = name
	for i := range placeWords {
		if short, ok := takeWord(name, placeWords[i].words); ok && (found == nil || len(short) < len(rest)) {
			rest, found = short, &placeWords[i]
		}
	}
	return rest, found
}

// takeWord cuts the longest of the words off the end of a text, or an English one off its beginning.
func takeWord(text string, words []string) (rest string, found bool) {
	longest := 0
	singular := strings.TrimSuffix(text, "s")
	for _, w := range words {
		if len(w) > longest && endsWith(text, w) {
			longest = len(w)
		}
		if singular != text && len(w)+1 > longest && endsWith(singular, w) {
			longest = len(w) + 1
		}
	}
	if longest > 0 {
		return strings.TrimSpace(text[:len(text)-longest]), true
	}
	best := ""
	for _, w := range words {
		after, ok := strings.CutPrefix(text, w)
		if ok && len(w) > len(best) && (strings.HasPrefix(after, " ") || after != "" && isQuote(after)) {
			best = w
		}
	}
	return strings.TrimSpace(text[len(best):]), best != ""
}

// endsWith tells whether the text ends in the word, an English one as a word of its own.
func endsWith(text, w string) bool {
	if !strings.HasSuffix(text, w) {
		return false
	}
	if !ascii(w) || len(text) == len(w) {
		return true
	}
	before := text[len(text)-len(w)-1]
	return before == ' ' || before >= 0x80
}
