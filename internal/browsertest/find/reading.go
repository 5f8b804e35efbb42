package find

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
	"golang.org/x/text/unicode/norm"
)

// reading is one way to understand a description. Names hold the same words that connect names
// ("Sign in", 我的订单), so there are several.
type reading struct {
	name     phrase
	variants []phrase // the name, then its forms with synonyms
	exact    bool     // the name was quoted: nothing but an equal label will do
	extra    phrase   // words beside a quoted name, which must come from around the element
	role     *roleWord
	contents bool    // something can be done to what the role says: "Delete item"
	thing    *place  // a part of the page is meant itself; nil: an element by its name
	nth      int     // 2: the second of equals, -1: the last; 0: not said
	several  bool    // nth makes sense only among two or more
	page     bool    // the name is the number of a page
	places   []place // all must hold the element
	seam     string  // the words around the cut before the place
	uncut    *place  // what the places are parts of, as one name; nil where they are no parts
	cost     float64 // what this way of reading takes off the score
}

// place is where the element is said to stand.
type place struct {
	name  phrase
	exact bool
	word  *placeWord // nil: any kind of place
	row   bool       // a row or an item of a list
	nth   int        // which one of its kind
	near  bool       // beside the name rather than inside of something that has it
	side  int        // of near: 1 after the name, -1 before it; 0 either
	cell  cellOf     // a row may be told by one of its cells
}

// description is a text with its quoted parts taken out, each marked by a private character.
type description struct {
	text   string
	quotes []string
	syn    *synonyms
	looks  bool // nothing is done with what is meant, so it may be a part of the page
}

const (
	quoteMark = '\ue000'
	maxQuotes = 8
	maxQuery  = 400 // bytes that are understood
)

// describe folds a text and takes its quotes out.
func describe(text string, syn *synonyms) description {
	if len(text) > maxQuery {
		text = text[:maxQuery]
	}
	d := description{syn: syn}
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	text = strings.Map(func(r rune) rune {
		if r >= quoteMark && r < quoteMark+maxQuotes {
			return -1
		}
		return r
	}, text)
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		quoted, end := grammar.Quoted(text, b.String())
		if quoted == "" || len(d.quotes) == maxQuotes {
			b.WriteRune(r)
			text = text[size:]
			continue
		}
		b.WriteRune(quoteMark + rune(len(d.quotes)))
		d.quotes = append(d.quotes, quoted)
		text = text[end:]
	}
	d.text = strings.Join(strings.Fields(strings.ToLower(b.String())), " ")
	d.text = numberOf.ReplaceAllString(d.text, "$1 $2")
	d.text = onPage.ReplaceAllString(d.text, "$1")
	return d
}

// numberOf is the number of one of several things of a kind: tab number 3.
var numberOf = regexp.MustCompile(`\b(tab|page|row|option|section|item|step|question|slide) (?:number|no\.?|nr\.?) (\d+)`)

// onPage says no more than that a part of the page is on it: the list below.
var onPage = regexp.MustCompile(`\b(list|dropdown|drop-down|menu|table|form|field|box|input|options|page) (?:(?:shown ` +
	`|given )?(?:below|above)|on (?:the|this) (?:page|screen))$`)

func isQuote(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= quoteMark && r < quoteMark+maxQuotes
}

// leads are words before a name that say what to do with it.
var leads = regexp.MustCompile(`^(?:请|点击|单击|双击|勾选|选择|选中|输入|填写|在|名为|名叫|标有|写着|` +
	`(?:please|click on|click|press|tap|select|check|hover over|labell?ed|named|called)\s)+`)

var articles = regexp.MustCompile(`^(?:(?:the|a|an|this|that)\s+(?:only\s+)?|唯一的)`)

// namingWords only say that a quoted text is a name.
const namingWords = `名为|名叫|叫做|标有|写着|文字为|文本为|标签为|名称为|标题为|` +
	`\b(?:labell?ed|named|called|titled|entitled|marked|saying|reading|that (?:says|reads)|with (?:the )?(?:text|name` +
	`|label|title|words?|value))\b`

var (
	naming = regexp.MustCompile(namingWords)
	// ofName is what stands between a kind and a name without quotes: the button labeled Save.
	ofName = regexp.MustCompile(`^(?:` + namingWords + `)\s*|^(?:of|for)\s+(?:the\s+|an?\s+)?`)
	// named are a quoted name and the words between it and its role.
	named = regexp.MustCompile(`(?:` + namingWords + `)\s*([\x{e000}-\x{e007}])\s*的?|([\x{e000}-\x{e007}])的`)
)

// readings are the ways to understand the description, the plainest first.
func (d description) readings() []reading {
	text := strings.Trim(d.text, " 。.!！,，;；")
	if len(d.quotes) > 0 {
		plain := named.ReplaceAllString(text, "$1$2 ")
		if rest, role := takeRole(strings.TrimSpace(plain)); role != nil && isQuote(rest) {
			text = plain // "“Save”的按钮" is a button, not something inside of Save
		}
	}
	list := d.split(articles.ReplaceAllString(text, ""), 0)
	if rest := leads.ReplaceAllString(text, ""); rest != text && rest != "" {
		list = append(list, d.split(articles.ReplaceAllString(rest, ""), leadCost)...)
	}
	for i := range list {
		list[i].variants = []phrase{list[i].name}
		if !list[i].exact {
			list[i].variants = d.syn.variants(list[i].name, list[i].role.isIcon())
		}
	}
	return list
}

const (
	leadCost  = 0.05 // for a word that may belong to the name
	splitCost = 0.05
	nthCost   = 0.05
	maxSplits = 24
)

// split reads the text as one name, and as a name with places.
func (d description) split(text string, cost float64) []reading {
	list := d.target(text, cost)
	for _, s := range d.splits(text) {
		places := d.places(s.place, s)
		for _, r := range d.target(s.target, cost+splitCost) {
			r.seam = s.seam
			for i, p := range places {
				r.places = p
				if i > 0 {
					r.uncut = &places[0][0]
				}
				list = append(list, r)
			}
		}
		if len(list) > maxSplits {
			break
		}
	}
	return list
}

// target reads a part that has no places: an ordinal, a name, a role.
func (d description) target(text string, cost float64) []reading {
	text = strings.TrimSpace(articles.ReplaceAllString(text, ""))
	if text == "" {
		return nil
	}
	list := d.roles(text, reading{cost: cost})
	if thing := d.place(text, splitAt{}); d.looks && (thing.word != nil && !thing.word.column || thing.row) {
		list = append(list, reading{cost: cost, thing: &thing, name: thing.name, exact: thing.exact})
	}
	if r, rest, found := ordinal(text); found {
		r.cost = cost + nthCost
		list = append(list, d.roles(rest, r)...)
	}
	if m := pageNth.FindStringSubmatch(text); m != nil {
		number := cmp.Or(m[1], m[2], strconv.Itoa(grammar.Ordinal(m[3])))
		list = append(list, d.roles(strings.TrimSpace(number+" "+m[4]), reading{cost: cost, page: true})...)
	}
	if m := dayNth.FindStringSubmatch(text); m != nil {
		list = append(list, d.roles(m[1], reading{cost: cost})...)
	}
	return list
}

// roles reads a name with its last word as a role, and as a name alone.
func (d description) roles(text string, r reading) []reading {
	plain := r
	plain.setName(d, text)
	list := []reading{plain}
	for i := range roleWords { // 搜索框 is a search box, and a box called 搜索
		if rest, found := takeWord(text, roleWords[i].words); found {
			r.role = &roleWords[i]
			kind, isLast := strings.CutPrefix(text, rest)
			if !isLast && len(roleWords[i].strict) == 0 && grammar.Number(rest) > 0 {
				continue // "Section 3" is a name
			}
			r.contents = isLast && contents[strings.TrimSuffix(strings.TrimSpace(kind), "s")]
			rest = ofName.ReplaceAllString(rest, "")
			r.setName(d, strings.TrimSpace(strings.TrimSuffix(rest, "的")))
			list = append(list, r)
		}
	}
	return list
}

// setName takes the name from a text with marks for its quoted parts.
func (r *reading) setName(d description, text string) {
	var outside strings.Builder
	var quoted []string
	for _, c := range text {
		if c >= quoteMark && c < quoteMark+maxQuotes {
			quoted = append(quoted, d.quotes[c-quoteMark])
			outside.WriteByte(' ')
			continue
		}
		outside.WriteRune(c)
	}
	if len(quoted) == 0 {
		r.name = read(text)
		return
	}
	r.exact = true
	r.name = read(quoted[len(quoted)-1])
	r.extra = read(strings.Join(append(quoted[:len(quoted)-1], naming.ReplaceAllString(outside.String(), " ")), " "))
	if !strings.ContainsFunc(r.extra.text, func(c rune) bool { return isWord(c) || isHan(c) }) {
		r.extra = phrase{}
	}
}

var (
	zhNth      = regexp.MustCompile(`^(?:(倒数)?第\s*(` + grammar.Numeral + `)\s*|最后一?)[个项条处张枚]\s*`)
	enNth      = regexp.MustCompile(`^(` + grammar.Ordinals + `|last|\d+(?:st|nd|rd|th))\s+`)
	enFromLast = regexp.MustCompile(
		`^(?:(` + grammar.Ordinals + `)[ -](?:(?:to|from)[ -](?:the[ -])?)?last|penultimate|next[ -]to[ -]last)\s+`)
	pageNth = regexp.MustCompile(`^(?:第\s*(\d+)\s*页|page (\d+)|(` + grammar.Ordinals + `) page)\s*(.*)$`)
	dayNth  = regexp.MustCompile(`^(?:(?:day|date)\s+)?(?:the\s+)?(\d+)\s*(?:[号日]|st|nd|rd|th)?$`)
)

// ordinal takes "第二个" or "second" off the front.
func ordinal(text string) (r reading, rest string, found bool) {
	if m := zhNth.FindStringSubmatch(text); m != nil {
		switch n := grammar.Number(m[2]); {
		case m[2] == "":
			r.nth = -1
		case m[1] != "":
			r.nth = -n
		default:
			r.nth = n
		}
		return r, text[len(m[0]):], r.nth != 0
	}
	// "First line" and "last page" are names, too, so there must be something to count.
	if m := enFromLast.FindStringSubmatch(text); m != nil {
		return reading{nth: -max(grammar.Ordinal(m[1]), 2), several: true}, text[len(m[0]):], true
	}
	m := enNth.FindStringSubmatch(text)
	if m == nil || grammar.IsPersonName(text) {
		return r, text, false
	}
	n := grammar.Ordinal(m[1])
	return reading{nth: n, several: true}, text[len(m[0]):], n != 0
}
