package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/search/static"
)

// maxWord limits a word: longer runs of letters are keys, hashes or base64, which nobody
// searches for.
const maxWord = 64

// words emits the terms of a text: parts of identifiers in lower case, stemmed; in scripts
// without spaces every character and every pair.
func words(text string, emit func(term string)) {
	read(text, func(term, _ string, joined bool) {
		if !joined {
			emit(term)
		}
	})
}

// read emits the terms of a text, each with the word it comes from. A word that is cut is also
// emitted as a whole, joined: some write GitHub, others github.
func read(text string, emit func(term, word string, joined bool)) {
	var cut cutter
	var prev rune // previous character, in a script without spaces
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		r = static.Plain(r)
		switch {
		case withoutSpaces(r):
			cut.end(emit)
			if !filler(r) {
				emit(string(r), "", false)
			}
			if prev != 0 && !(filler(prev) && filler(r)) {
				emit(string([]rune{prev, r}), "", false)
			}
			prev = r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			cut.add(r)
		case unicode.IsMark(r): // a combining accent does not end a word
		case (r == '\'' || r == '’') && isPossessive(text[i:]):
			i += len("s")
		default:
			cut.end(emit)
		}
		prev = 0
	}
	cut.end(emit)
}

// isPossessive reports whether rest starts with a possessive s.
func isPossessive(rest string) bool {
	if len(rest) == 0 || rest[0] != 's' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest[1:])
	return !unicode.IsLetter(r)
}

// withoutSpaces reports whether r is of a script without spaces between words or, as in Korean,
// with endings that the stemmer does not know.
func withoutSpaces(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// kind classifies characters for the cutter.
type kind uint8

const (
	other kind = iota
	lower
	upper
	digit
)

func kindOf(r rune) kind {
	switch {
	case r >= 'a' && r <= 'z':
		return lower
	case r >= 'A' && r <= 'Z' || unicode.IsUpper(r):
		return upper
	case unicode.IsDigit(r):
		return digit
	}
	return lower
}

// cutter splits a run of letters and digits into words: at case changes, between letters and
// digits, and before the last capital of an acronym (HTTPServer).
type cutter struct {
	run   []byte // in lower case
	ends  []int  // of the words in run
	caps  int    // trailing capitals
	turns int    // changes between letters and digits
	last  kind
}

func (c *cutter) add(r rune) {
	k := kindOf(r)
	switch {
	case c.last == other:
	case k == digit != (c.last == digit):
		c.turns++
		c.cut(len(c.run))
	case k == upper && c.last == lower:
		c.cut(len(c.run))
	case k == lower && c.last == upper && c.caps > 1:
		_, size := utf8.DecodeLastRune(c.run)
		c.cut(len(c.run) - size)
	}
	c.last = k
	if k == upper {
		c.caps++
	} else {
		c.caps = 0
	}
	c.run = utf8.AppendRune(c.run, unicode.ToLower(r))
}

func (c *cutter) cut(at int) { c.ends = append(c.ends, at) }

// maxTurns is how often a word may change between letters and digits; keys and hashes do it
// more often.
const maxTurns = 3

// end emits the words of the run.
func (c *cutter) end(emit func(term, word string, joined bool)) {
	if len(c.run) == 0 {
		return
	}
	if c.turns <= maxTurns {
		c.cut(len(c.run))
		run := string(c.run)
		start := 0
		for _, end := range c.ends {
			emitWord(run[start:end], false, emit)
			start = end
		}
		if len(c.ends) > 1 {
			emitWord(run, true, emit)
		}
	}
	*c = cutter{run: c.run[:0], ends: c.ends[:0]}
}

func emitWord(word string, joined bool, emit func(term, word string, joined bool)) {
	if len(word) <= maxWord && !stop[word] {
		emit(stem(word), word, joined)
	}
}

// stop are words that do not help to find a tool.
var stop = func() map[string]bool {
	list := `a an the of to in on for and or is are was were be been i me my we our you your it its this that these those
		with from by as at can could would should will do does did please how what which who where when let also any some if so
		about into up out have has had not no just there their them then than im ive whats like id`
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}()

// vague are terms that ask for something without saying what. They count little, and nothing in
// a tool's name.
var vague = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields("find get show give tell provide help need want know use using used") {
		set[stem(w)] = true
	}
	return set
}()

// filler reports whether a single Han character does not help to find a tool.
func filler(r rune) bool {
	return strings.ContainsRune("的了我你您他她它们是在和与或请帮要想把给吗呢吧啊这那哪个一些有也就都并且及为从到对以能可么怎什", r)
}

// endings are cut from long words; the first match wins.
var endings = []string{"ation", "tion", "ion", "ment", "er", "or", "ly"}

// stem cuts common English endings, so that "searches" finds "search". It need not be correct,
// only the same for tools and queries.
func stem(w string) string {
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		w = w[:n-3] + "y"
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:n-2])
	default:
		w = stemNoun(w)
	}
	if len(w) > 1 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

func stemNoun(w string) string {
	if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] != 's' && w[len(w)-2] != 'u' {
		w = w[:len(w)-1]
	}
	if len(w) <= 6 {
		return w
	}
	for _, e := range endings {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 4 {
			return w[:len(w)-len(e)]
		}
	}
	return w
}

// undouble turns the "stopp" of "stopping" into "stop".
func undouble(w string) string {
	if n := len(w); n > 2 && w[n-1] == w[n-2] {
		return w[:n-1]
	}
	return w
}
