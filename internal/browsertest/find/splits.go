package find

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

// splitAt is a description cut into a place and what stands there.
type splitAt struct {
	place, target string
	row, near     bool
	side          int    // 1: what is meant comes after the name, -1: before it
	seam          string // the words to both sides of an English joint, and the joint
}

// joint connects a place with what stands there. Chinese names the place first, English last.
type joint struct {
	text string
	kind string // row, near, below or above, in, or after: in, but only after a word for a kind of place
}

var joints = func() (list []joint) {
	for _, line := range wordLists["joints"] {
		kind, words, _ := strings.Cut(line, ": ")
		for _, w := range entriesOf(words) {
			if ascii(w) {
				w = " " + w + " "
			}
			list = append(list, joint{w, kind})
		}
	}
	return list
}()

var sides = map[string]int{"below": 1, "above": -1}

var (
	rowPrefix  = regexp.MustCompile(`^((?:倒数)?第\s*` + grammar.Numeral + `\s*行|最后一行|首行)\s*(.+)$`)
	idRow      = regexp.MustCompile(`^(.*[a-z0-9\x{e000}-\x{e007}])\s*行\s*(.+)$`)
	possessive = regexp.MustCompile(`^(.+?)['’]s\s+(.+)$`)
	rowAfter   = regexp.MustCompile(`^(row \d+|(?:last|` + grammar.Ordinals + `) row)\s+(.+)$`)
)

// splits are the ways to cut the text into a place and what stands there.
func (d description) splits(text string) (list []splitAt) {
	add := func(s splitAt) {
		s.place = strings.TrimSpace(s.place)
		s.target = strings.TrimSpace(s.target)
		if s.place != "" && s.target != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, re := range []*regexp.Regexp{rowPrefix, idRow, rowAfter} {
		if m := re.FindStringSubmatch(text); m != nil {
			add(splitAt{place: m[1], target: strings.TrimPrefix(m[2], "的"), row: true})
		}
	}
	if m := possessive.FindStringSubmatch(text); m != nil {
		add(splitAt{place: m[1], target: m[2]})
	}
	for _, j := range joints {
		for from := 0; ; {
			i := strings.Index(text[from:], j.text)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(j.text)
			s := splitAt{place: text[:at], target: text[from:], row: j.kind == "row", side: sides[j.kind]}
			s.near = j.kind == "near" || s.side != 0
			if j.kind == "after" {
				if _, word := takePlace(strings.TrimSpace(s.place)); word == nil {
					continue
				}
			}
			if ascii(j.text) {
				from-- // the space may begin the next one
				s.place = text[from:]
				s.target = text[:at]
				s.seam = seam(text[:at], j.text, text[from:])
			}
			add(s)
		}
	}
	return list
}

// seam is the words around a cut. Where the page has them, the cut went through a name: "Crash on startup".
func seam(before, joint, after string) string {
	after = strings.TrimSpace(after)
	lead := placeLeads.FindString(after) // "save in the" says nothing of what it is in
	first, _, _ := strings.Cut(after[len(lead):], " ")
	return before[strings.LastIndexByte(before, ' ')+1:] + joint + lead + first
}

// rowOf is a numbered row of something that is named before it: 表格第3行, 订单列表的最后一行.
var rowOf = regexp.MustCompile(`^(.+?)(?:里的|中的|的|里|中)?((?:倒数)?第\s*` + grammar.Numeral + `\s*行|最后一行)$`)

// places reads a place, which may itself stand in another, in every way.
func (d description) places(text string, s splitAt) [][]place {
	list := [][]place{{d.place(text, s)}}
	if p := list[0][0]; p.word != nil && p.nth == 0 && !p.exact { // 用户列表 may be a name
		p.word = nil
		p.name = read(placeLeads.ReplaceAllString(text, ""))
		list = append(list, []place{p})
	}
	if rest := whatIs.ReplaceAllString(text, "$1$2"); rest != text && rest != "" {
		list = append(list, []place{d.place(rest, s)})
	}
	if m := rowOf.FindStringSubmatch(text); m != nil {
		list = append(list, []place{d.place(m[1], splitAt{}), d.place(m[2], splitAt{row: true})})
	}
	for i, outer := range d.splits(text) {
		if i == 3 {
			break
		}
		inner := d.place(outer.target, splitAt{row: s.row, near: s.near, side: s.side})
		list = append(list, []place{d.place(outer.place, outer), inner})
	}
	return list
}

// whatIs says what kind of thing a row or a box is about, before its name: the message by Ann, the words "Name".
var whatIs = regexp.MustCompile(`^(?:the )?(?:(?:` + strings.Join(wordsOf("about"), "|") + `) (?:by|from|named|called) (?:the )?` +
	`|(?:` + strings.Join(wordsOf("persons"), "|") + `) ([^\d\s\x{e000}-\x{e007}])|(?:words?|text|label|heading) ([\x{e000}-\x{e007}]))`)

var (
	placeLeads = regexp.MustCompile(`^(?:在\s*|(?:the|a|an|this|that)\s+)`)
	rowNth     = regexp.MustCompile(`^(倒数)?第\s*(` + grammar.Numeral + `)\s*行?$`)
	enRowNth   = regexp.MustCompile(`^(?:row (\d+)|(\d+(?:st|nd|rd|th)|last|` + grammar.Ordinals + `) row` +
		`|(` + grammar.Ordinals + `)[ -](?:to[ -])?last row)$`)
	itemNth   = regexp.MustCompile(`^(倒数)?第\s*(` + grammar.Numeral + `)\s*[个条项张件](?:商品|记录|结果|数据|卡片|项目|条目|订单|帖子|消息)?$`)
	enItemNth = regexp.MustCompile(`^(last|` + grammar.Ordinals + `) (?:item|result|card|product|entry|record|post|message)$`)
	rowWords  = regexp.MustCompile(`^(?:row|line|item)\s+(?:of|for|with|containing)\s+(?:the\s+)?|\s+(?:row|line)$` +
		`|['’]s\s+(?:item|entry|record|card|post|comment|message|review)$|(?:那|这|该)?一?行$`)
)

// place reads one place.
func (d description) place(text string, s splitAt) place {
	p := place{row: s.row, near: s.near, side: s.side}
	text = strings.TrimSpace(placeLeads.ReplaceAllString(text, ""))
	if n := rowNumber(text, s.row); n != 0 {
		p.nth = n
		p.row = true
		return p
	}
	if !p.near {
		if rest := rowWords.ReplaceAllString(text, ""); rest != text && rest != "" {
			p.row = true
			text = rest
		}
	}
	if !p.row {
		whole := text
		if rest, word := takePlace(text); word != nil {
			p.word = word
			text = strings.TrimSpace(strings.TrimSuffix(rest, "的"))
			if r, rest, found := ordinal(text + " "); found && strings.TrimSpace(rest) == "" {
				p.nth = r.nth
				text = ""
			} else if n := grammar.Number(text); n > 0 && ascii(text) {
				if word.box { // "Section 1" is a name
					p.word = nil
					text = whole
				} else { // frame 1 is the first
					p.nth = n
					text = ""
				}
			}
		}
	}
	if p.near { // "next to the user name field" means what is called user name
		if rest, role := takeRole(text); role != nil && rest != "" {
			text = rest
		}
	}
	var r reading
	r.setName(d, text)
	p.name = r.name
	p.exact = r.exact
	if !p.exact && p.word == nil {
		p.cell = readCellOf(text)
	}
	return p
}

// rowNumber reads "第3行", "row 3" and "第一个商品"; 0 for anything else.
func rowNumber(text string, row bool) int {
	if text == "最后一行" || text == "最后一" && row || text == "最后一个" || text == "最后一条" {
		return -1
	}
	if text == "首行" {
		return 1
	}
	m := itemNth.FindStringSubmatch(text)
	if m == nil && (row || strings.HasSuffix(text, "行")) {
		m = rowNth.FindStringSubmatch(text)
	}
	if m != nil && m[1] != "" {
		return -grammar.Number(m[2])
	}
	if m != nil {
		return grammar.Number(m[2])
	}
	if m := enRowNth.FindStringSubmatch(text); m != nil {
		return grammar.Number(m[1]) + grammar.Ordinal(m[2]) - grammar.Ordinal(m[3])
	}
	if m := enItemNth.FindStringSubmatch(text); m != nil {
		return grammar.Ordinal(m[1])
	}
	return 0
}
