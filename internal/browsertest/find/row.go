package find

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// pieces are the texts of a row, without its buttons and the rows inside it.
func (x *Index) pieces(of *snapshot.Node) []phrase {
	if list, known := x.rowTexts[of.Index]; known {
		return list
	}
	list := make([]phrase, 0, 8)
	add := func(s string) {
		if p := x.phrase(s); !p.empty() {
			list = append(list, p)
		}
	}
	if of.Role != "row" || of.First == nil { // else its name says no more than its cells
		add(of.Name)
	}
	add(of.Text)
	for i := of.Index + 1; i < of.End && len(list) < 200; {
		m := x.page.Node(i)
		if is(m, row) {
			i = m.End
			continue
		}
		i++
		if m.Role == "button" {
			continue
		}
		add(m.Name)
		add(m.Text)
	}
	x.rowTexts[of.Index] = list
	return list
}

// covers tells how texts of a row hold a name: as one whole text, or word by word.
func covers(pieces []phrase, name phrase, exact bool) grade {
	if name.empty() {
		return none
	}
	for _, p := range pieces {
		if p.equal(name) {
			return whole
		}
	}
	if exact {
		return none
	}
	for _, w := range name.words {
		if stopWords[w.text] || structural[w.text] {
			continue
		}
		if !slices.ContainsFunc(pieces, func(p phrase) bool { return holdsWord(p, w) }) && !strung(pieces, w) {
			return none
		}
	}
	if !told(pieces, name.words) {
		return none
	}
	return part
}

// strung tells whether a Chinese run is several texts in a row: 研发部王芳.
func strung(texts []phrase, w word) bool {
	if w.kind != han {
		return false
	}
	for rest := w.text; ; {
		next := ""
		for _, p := range texts {
			if !p.empty() && !isHanSign(p.text) && len(p.text) > len(next) && strings.HasPrefix(rest, p.text) {
				next = p.text
			}
		}
		rest = rest[len(next):]
		if next == "" || rest == "" {
			return next != "" && next != w.text
		}
	}
}

// told tells whether texts have the words together: John Smith is not John Miller and Anna Smith.
func told(texts []phrase, words []word) bool {
	if len(words) < 2 {
		return true // it was seen in one of them
	}
	words = telling(words)
	for len(words) > 0 {
		n := longest(texts, words)
		if n == 0 && (words[0].kind != ident || isCount(words[0])) {
			return false
		}
		words = words[max(n, 1):] // an identifier means the same wherever it stands
	}
	return true
}

// longest is how many words, from the first on, are the whole of one text; 0 for none.
func longest(texts []phrase, words []word) (most int) {
	for n := 1; n <= len(words); n++ {
		if whole := phraseOf(words[:n]); slices.ContainsFunc(texts, whole.equal) {
			most = n
		}
	}
	return most
}

// inOrder tells whether a text has the words together and in order, stop words aside.
func inOrder(text, words []word) bool {
	text = telling(text)
	for i := 0; i+len(words) <= len(text); i++ {
		same := true
		for k, w := range words {
			if same = holdsWord(phrase{words: text[i+k : i+k+1]}, w); !same {
				break
			}
		}
		if same {
			return true
		}
	}
	return false
}

// holdsWord tells whether a text has the word as a whole: 张三 is not 张三丰.
func holdsWord(p phrase, w word) bool { return slices.ContainsFunc(p.words, w.same) }

// rowsOf is the table or the list that a row is one of.
func rowsOf(row *snapshot.Node) *snapshot.Node {
	owner := row.Parent
	for owner != nil && owner.Role == "rowgroup" && owner.Parent != nil {
		owner = owner.Parent
	}
	return owner
}

// byOwner groups rows by the table or list that they are in.
func byOwner(rows []*snapshot.Node) (groups [][]*snapshot.Node) {
	at := map[*snapshot.Node]int{}
	for _, n := range rows {
		i := memo(at, rowsOf(n), func() int {
			groups = append(groups, nil)
			return len(groups) - 1
		})
		groups[i] = append(groups[i], n)
	}
	return groups
}

// numbered are the nth rows of every table and list.
func (x *Index) numbered(nth int) (list []scope) {
	uncounted := func(n *snapshot.Node) bool { return x.isHead(n) || n.Role == "treeitem" }
	for _, rows := range byOwner(slices.DeleteFunc(slices.Clone(x.rows), uncounted)) {
		i := nthOf(nth, len(rows))
		if i < 0 || nth > 0 && x.mayHead(rows[0]) { // the first row, or the one below it?
			continue
		}
		list = append(list, scope{from: rows[i].Index, to: rows[i].End, grade: whole})
	}
	return list
}
