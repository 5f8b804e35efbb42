package find

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// phrase is a text as it is compared: in lower case and cut into words. A run of Chinese characters is
// one word, and so is an identifier or a number.
type phrase struct {
	text   string // the words with single spaces between them
	joined string // the words without spaces
	words  []word
	raw    string // as it stands on the page; "" for what was put together
}

type word struct {
	text string
	kind kind
}

type kind uint8

const (
	latin kind = iota
	han
	ident // holds a digit or an @: a number, a date, an address, SO-1003
)

// read folds a text. A text of signs alone, such as × or ♥, is one word.
func read(s string) phrase {
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "")
	}
	if !ascii(s) {
		s = norm.NFKC.String(s)
	}
	s = strings.ToLower(s)
	if strings.Contains(s, "://") && !strings.ContainsAny(s, " \t\n") {
		return phraseOf([]word{{s, ident}}) // an address is one word
	}
	words := make([]word, 0, 4)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		from := i
		i += size
		switch {
		case isHan(r):
			for i < len(s) {
				if r, size = utf8.DecodeRuneInString(s[i:]); !isHan(r) {
					break
				}
				i += size
			}
			words = append(words, word{s[from:i], han})
		case isWord(r):
			i = runEnd(s, i, r)
			words = appendRun(words, s[from:i])
		}
	}
	if len(words) == 0 {
		if signs := strings.TrimSpace(s); signs != "" {
			words = []word{{signs, latin}}
		}
	}
	return phraseOf(words)
}

// maxLabel is how much of a label is compared.
const maxLabel = 2000

func phraseOf(words []word) phrase {
	if len(words) == 1 {
		return phrase{text: words[0].text, joined: words[0].text, words: words}
	}
	texts := make([]string, 0, 16) // mostly enough, and not on the heap
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return phrase{text: strings.Join(texts, " "), joined: strings.Join(texts, ""), words: words}
}

func (p phrase) empty() bool { return len(p.words) == 0 }

// allHan tells whether there are Chinese words alone.
func (p phrase) allHan() bool {
	return !slices.ContainsFunc(p.words, func(w word) bool { return w.kind != han })
}

// equal tells whether two phrases say the same, spaces and punctuation aside.
func (p phrase) equal(q phrase) bool {
	return p.text == q.text || p.joined == q.joined && p.joined != ""
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isHan(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '々'
}

// isWord tells whether a character is part of a word of an alphabet.
func isWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || isDigit(r)
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) && !isHan(r)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// runEnd is the end of a run of word characters and what joins them; last is the one before i.
func runEnd(s string, i int, last rune) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWord(r) {
			after, _ := utf8.DecodeRuneInString(s[i+size:])
			if !joins(last, r, after) {
				return i
			}
		}
		last = r
		i += size
	}
	return i
}

// joins tells whether the sign r between two characters keeps them together.
func joins(before, r, after rune) bool {
	if !isWord(before) || !isWord(after) {
		return false
	}
	switch r {
	case '-', '_', '.', '@', '+', '\'', '’':
		return true
	case ':', '/', ',':
		return isDigit(before) && isDigit(after)
	}
	return false
}

// appendRun adds a run as one identifier, or as the words it is made of.
func appendRun(words []word, text string) []word {
	if strings.ContainsFunc(text, isDigit) || strings.Contains(text, "@") {
		return append(words, word{strings.ReplaceAll(text, ",", ""), ident})
	}
	if strings.ContainsAny(text, "'’") {
		text = strings.NewReplacer("'", "", "’", "").Replace(text)
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		words = append(words, word{part, latin})
	}
	return words
}

// stem removes the plural ending of an English word. Other endings make other words.
func stem(s string) string {
	switch n := len(s); {
	case n > 4 && strings.HasSuffix(s, "ies"):
		return s[:n-3] + "y"
	case n > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss"):
		return s[:n-1]
	}
	return s
}

// root is what the forms of a word have in common.
func (w word) root() string {
	if w.kind != latin {
		return w.text
	}
	return strings.TrimSuffix(stem(w.text), "y")
}

// same tells whether two words are one, up to an English ending.
func (w word) same(v word) bool {
	if w.text == v.text {
		return true
	}
	return w.kind == latin && v.kind == latin && stem(w.text) == stem(v.text)
}

// cut removes the words of part and returns the rest. A Chinese word may begin or end a longer run.
func (p phrase) cut(part phrase) (rest []word, found bool) {
	for _, w := range part.words {
		if indexOf(p.words, w) < 0 {
			return nil, false
		}
	}
	left := append(make([]word, 0, len(p.words)+len(part.words)), p.words...)
	for _, w := range part.words {
		at := indexOf(left, w)
		if at < 0 {
			return nil, false
		}
		left = takeOut(left, at, w)
	}
	return left, true
}

// cutEnd is cut, and takes a single Chinese character off the end, too: 性别男 is 男 of 性别.
func (p phrase) cutEnd(part phrase) (rest []word, found bool) {
	if rest, found = p.cut(part); found || len(p.words) != 1 || !isHanSign(part.text) {
		return rest, found
	}
	before, found := strings.CutSuffix(p.text, part.text)
	return []word{{before, han}}, found && before != ""
}

// isHanSign tells whether a text is a single Chinese character.
func isHanSign(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && isHan(r)
}

func indexOf(words []word, w word) int {
	for i, v := range words {
		if w.same(v) {
			return i
		}
	}
	if w.kind != han || len([]rune(w.text)) < 2 {
		return -1
	}
	for i, v := range words {
		if v.kind == han && (strings.HasPrefix(v.text, w.text) || strings.HasSuffix(v.text, w.text)) {
			return i
		}
	}
	return -1
}

// takeOut removes w from the word at the place; of a longer run the rest stays.
func takeOut(words []word, at int, w word) []word {
	rest := ""
	if v := words[at]; v.kind == han && v.text != w.text {
		if strings.HasPrefix(v.text, w.text) {
			rest = v.text[len(w.text):]
		} else {
			rest = strings.TrimSuffix(v.text, w.text)
		}
	}
	if rest == "" {
		return append(words[:at], words[at+1:]...)
	}
	words[at] = word{rest, han}
	return words
}
