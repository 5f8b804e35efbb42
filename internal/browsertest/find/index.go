package find

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Index is a page prepared for look-ups. It is not safe for concurrent use: it caches.
type Index struct {
	page       *snapshot.Page
	syn        *synonyms
	mask       func(string) string
	phrases    map[string]phrase
	labels     [][]label
	rowTexts   map[int][]phrase // of rows, by index
	names      map[int]phrase   // of places, by index
	usable     map[Action][]*snapshot.Node
	headRows   map[*snapshot.Node]*snapshot.Node // of tables
	heads      []*snapshot.Node                  // rows that head one; nil: not looked for yet
	all        string                            // every text of the page, folded
	known      map[string]bool                   // whether a word is in it
	dialogs    []*snapshot.Node
	frames     []*snapshot.Node
	told       map[Question]Answer // by the page itself
	rows       []*snapshot.Node
	places     []*snapshot.Node // parts of the page that may have a name
	tellsHeads bool             // cells that head columns are marked as such
	headings   []int            // where they stand
	sections   []scope          // what they head
}

// Options change an Index. The zero value is usable.
type Options struct {
	Synonyms []string                 // lines of words that mean the same here: "科室 部门 department"
	Mask     func(text string) string // takes out of a text what nobody may read who is told of elements; nil: nothing
}

// New makes an Index of a page; nil options are the defaults.
func New(page *snapshot.Page, opts *Options) *Index {
	x := &Index{
		page: page, syn: defaultSynonyms, mask: func(text string) string { return text }, labels: make([][]label, page.Len()),
		phrases:  make(map[string]phrase, page.Len()/2),
		rowTexts: map[int][]phrase{}, names: map[int]phrase{}, usable: map[Action][]*snapshot.Node{}, known: map[string]bool{},
		headRows: map[*snapshot.Node]*snapshot.Node{}, told: map[Question]Answer{},
	}
	if opts != nil {
		if opts.Mask != nil {
			x.mask = opts.Mask
		}
		if len(opts.Synonyms) > 0 {
			x.syn = newSynonyms(opts.Synonyms...)
		}
	}
	var headings []*snapshot.Node
	for n := range page.All() {
		has := traits[n.Role]
		switch {
		case has&row != 0:
			x.rows = append(x.rows, n)
		case has&landmark != 0 && has&control == 0:
			x.places = append(x.places, n)
		}
		x.tellsHeads = x.tellsHeads || n.Role == "columnheader"
		switch {
		case has&dialog != 0:
			x.dialogs = append(x.dialogs, n)
		case n.Role == "iframe":
			x.frames = append(x.frames, n)
		case has&heading != 0:
			headings = append(headings, n)
		}
	}
	x.readSections(headings)
	return x
}

// memo is the value of a key, computed once.
func memo[K comparable, V any](values map[K]V, key K, compute func() V) V {
	v, known := values[key]
	if !known {
		v = compute()
		values[key] = v
	}
	return v
}

// defaultSynonyms is read-only.
var defaultSynonyms = newSynonyms()

// phrase is a text as it is compared: in lower case and cut into words. A run of Chinese characters is
// one word, and so is an identifier or a number.
func (x *Index) phrase(s string) phrase {
	if s == "" {
		return phrase{}
	}
	return memo(x.phrases, s, func() phrase {
		p := read(s)
		p.raw = s
		return p
	})
}

// knows tells whether a word occurs on the page. Most readings have words that do not.
func (x *Index) knows(w word) bool {
	return memo(x.known, w.text, func() bool {
		all := x.allText()
		missing := func(r rune) bool { return !strings.ContainsRune(all, r) }
		return strings.Contains(all, w.root()) || w.kind == han && !strings.ContainsFunc(w.text, missing) // signs may part it
	})
}

// allText is every text of the page, folded as words are.
func (x *Index) allText() string {
	if x.all == "" {
		var b strings.Builder
		for n := range x.page.All() {
			for _, text := range [...]string{n.Name, n.Text, n.Placeholder} {
				b.WriteString(text)
				b.WriteByte('\n')
			}
		}
		for _, n := range x.frames {
			b.WriteString(strings.Join(x.toldNames(n), "\n") + "\n")
		}
		x.all = strings.ToLower(b.String())
		if !ascii(x.all) {
			x.all = norm.NFKC.String(x.all)
		}
		x.all = joiners.Replace(x.all)
	}
	return x.all
}

// hasName tells whether a name or a short text of the page contains a part.
func (x *Index) hasName(part string) bool {
	if !strings.Contains(x.allText(), part) {
		return false
	}
	for line := range strings.SplitSeq(x.allText(), "\n") {
		if strings.Contains(line, part) && !sentence.MatchString(line) {
			return true
		}
	}
	return false
}

var joiners = strings.NewReplacer(",", "", "'", "", "’", "")

// knowsAll tells whether all words of a phrase may stand on the page.
func (x *Index) knowsAll(p phrase) bool {
	return !slices.ContainsFunc(p.words, func(w word) bool { return !stopWords[w.text] && !structural[w.text] && !x.knows(w) })
}

// serving are the elements that serve an action.
func (x *Index) serving(action Action) []*snapshot.Node {
	list, known := x.usable[action]
	if known {
		return list
	}
	for n := range x.page.All() {
		if action == Fill && n.Role == "generic" && n.Text != "" && x.labelsField(n) {
			continue // a label is no field, also where its own is gone
		}
		if fit(n, action) > 0 && (action == Any || (action == Choose || x.actOn(n) != "") && !x.behind(n)) {
			list = append(list, n)
		}
	}
	x.usable[action] = list
	return list
}

// Box is the ref of the box around a checkbox, radio button or switch and its text; "" for none. A
// click on the control itself often does not reach it.
func (x *Index) Box(n *snapshot.Node) string {
	if !is(n, checkable) || n.Pointer {
		return ""
	}
	box := n.Parent
	for depth := 0; box != nil && !box.Pointer && depth < 2; depth++ {
		box = box.Parent
	}
	if box == nil || !box.Pointer || box.Role != "generic" {
		return ""
	}
	for m := range x.page.Inside(box) {
		if m != n && is(m, control) {
			return ""
		}
	}
	return box.Ref
}

// actOn is the ref to use for an element: its own, or that of a box with nothing else in it.
func (x *Index) actOn(n *snapshot.Node) string {
	if n.Ref != "" || !is(n, control) || n.Role == "option" {
		return n.Ref
	}
	if slices.ContainsFunc(n.Attrs, func(a snapshot.Attr) bool { return a.Key == "aria-hidden" }) {
		return "" // what is drawn instead is another element
	}
	box := n.Parent
	for depth := 0; box != nil && box.Ref == "" && depth < 3; depth++ {
		box = box.Parent
	}
	if box == nil || box.Ref == "" || box.Role != "generic" && !is(box, cell) {
		return ""
	}
	for m := range x.page.Inside(box) {
		if m != n && (is(m, control) || m.Name != "" && !is(n, field)) {
			return ""
		}
	}
	return box.Ref
}
