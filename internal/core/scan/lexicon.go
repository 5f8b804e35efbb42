package scan

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

var known = mustRead(lexiconText)

// lexicon is the phrases of attacks, by the words that they begin with.
type lexicon struct {
	phrases map[string][]*phrase
	about   terms          // words before a phrase that make it a description of an attack
	han     map[string]int // Chinese words; their runs of characters have no spaces
	longest int            // of them, in bytes
}

// phrase is a sequence of terms within a sentence.
type phrase struct {
	kind    Kind
	message string
	terms   []step
	loose   bool // in any order
}

// encoded is the kind of phrases that count only in encoded text.
const encoded Kind = "encoded"

// step is one of several terms, at most so many words after the one before.
type step struct {
	terms terms
	gap   int
}

// terms are the words of each term by its first word.
type terms map[string][][]string

const (
	gap      = 3  // words between two steps
	wideGap  = 14 // where the lexicon has ..
	around   = 20 // on both sides of the first step of a phrase in any order
	aboutGap = 10 // between a word that describes and the phrase
)

// Words that stand for what the lexicon cannot list. Other words have small letters.
const (
	aTool  = "TOOL" // the name of another server's tool
	aName  = "NAME" // TOOL, or a name like those of tools that is none of this server's
	anURL  = "URL"
	anMail = "EMAIL"
)

func mustRead(text string) *lexicon {
	l, err := readLexicon(text)
	if err != nil {
		panic("scan: lexicon.txt: " + err.Error())
	}
	return l
}

// readLexicon reads the form that the head of lexicon.txt explains.
func readLexicon(text string) (*lexicon, error) {
	l := &lexicon{phrases: map[string][]*phrase{}, han: map[string]int{}}
	sets := map[string]terms{}
	var kind Kind
	message := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		name, words, isSet := strings.Cut(line, " = ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			before, after, _ := strings.Cut(line[1:], "] ")
			kind, message = Kind(before), after
		case isSet:
			if sets[name] == nil {
				sets[name] = terms{}
			}
			for _, word := range strings.Fields(words) {
				if err := l.add(sets[name], sets, word); err != nil {
					return nil, fmt.Errorf("line %d: %w", number, err)
				}
			}
		default:
			p := &phrase{kind: kind, message: message}
			near := gap
			for _, word := range strings.Fields(line) {
				switch word {
				case "..":
					near = wideGap
					continue
				case "&":
					p.loose = true
					continue
				}
				st := step{terms{}, near}
				for _, term := range strings.Split(word, "|") {
					if err := l.add(st.terms, sets, term); err != nil {
						return nil, fmt.Errorf("line %d: %w", number, err)
					}
				}
				p.terms = append(p.terms, st)
				near = gap
			}
			for first := range p.terms[0].terms {
				l.phrases[first] = append(l.phrases[first], p)
			}
		}
	}
	l.about = sets["$about"]
	return l, nil
}

// add adds a term, or all of a set.
func (l *lexicon) add(to terms, sets map[string]terms, term string) error {
	if term[0] == '$' {
		if sets[term] == nil {
			return fmt.Errorf("there is no set %s", term)
		}
		for first, all := range sets[term] {
			to[first] = append(to[first], all...)
		}
		return nil
	}
	if r, _ := utf8.DecodeRuneInString(term); unicode.Is(unicode.Han, r) {
		l.han[term] = 1
		l.longest = max(l.longest, len(term))
	}
	parts := strings.Split(term, "_")
	to[parts[0]] = append(to[parts[0]], parts)
	return nil
}

// word is a word of a text: what the lexicon has it as, and where it stands. A sentence ends in an
// empty one.
type word struct {
	text       string
	naming     naming // of the name that it is part of
	after      int    // the word after that name
	start, end int
}

// phrases reports the phrases of the lexicon in a text.
func (s *scanner) phrases(text string, path []string) {
	s.split(text)
	for i := range s.words {
		for _, p := range s.begin(i) {
			from, to := s.find(i, p)
			if to > 0 && p.kind != encoded && !(p.kind == Instruction && s.describes(from)) {
				s.add(p.kind, path, text[s.words[from].start:wordEnd(text, s.words[to-1].end)], p.message)
			}
		}
	}
}

// wordEnd is where a path or name ends that a phrase may end within.
func wordEnd(text string, at int) int {
	for at < len(text) && (isCode(text[at]) || text[at] == '.' && at+1 < len(text) && isCode(text[at+1])) {
		at++
	}
	return at
}

// speaks reports whether a text that was encoded has a phrase of the lexicon.
func (s *scanner) speaks(text string) bool {
	s.split(text)
	for i := range s.words {
		for _, p := range s.begin(i) {
			if _, to := s.find(i, p); to > 0 {
				return true
			}
		}
	}
	return false
}

// begin returns the phrases that may begin at a word.
func (s *scanner) begin(i int) []*phrase {
	switch w := s.words[i]; w.naming {
	case another:
		return slices.Concat(known.phrases[w.text], known.phrases[aTool], known.phrases[aName])
	case foreign:
		return slices.Concat(known.phrases[w.text], known.phrases[aName])
	default:
		return known.phrases[w.text]
	}
}

// find returns the words of a phrase whose first step is at a word; to is 0 if it does not stand there.
func (s *scanner) find(i int, p *phrase) (from, to int) {
	from, to = i, s.at(i, p.terms[0].terms)
	for _, st := range p.terms[1:] {
		if to == 0 {
			return 0, 0
		}
		if p.loose {
			at, end := s.near(i, st.terms)
			if end == 0 {
				return 0, 0
			}
			from, to = min(from, at), max(to, end)
			continue
		}
		next := 0
		for j := to; j < len(s.words) && j <= to+st.gap && s.words[j].text != "" && next == 0; j++ {
			next = s.at(j, st.terms)
		}
		to = next
	}
	return from, to
}

// near finds a term around a word, in its sentence.
func (s *scanner) near(i int, t terms) (at, end int) {
	for j := i + 1; j < len(s.words) && j <= i+around && s.words[j].text != ""; j++ {
		if end = s.at(j, t); end > 0 {
			return j, end
		}
	}
	for j := i - 1; j >= 0 && j >= i-around && s.words[j].text != ""; j-- {
		if end = s.at(j, t); end > 0 {
			return j, end
		}
	}
	return 0, 0
}

// at returns where a term that stands at a word ends; 0: none does.
func (s *scanner) at(i int, t terms) int {
	if is := s.words[i].naming; is == another && t[aTool] != nil || is >= foreign && t[aName] != nil {
		return s.words[i].after
	}
	longest := 0
	for _, term := range t[s.words[i].text] {
		n := 1
		for n < len(term) && i+n < len(s.words) && s.words[i+n].text == term[n] {
			n++
		}
		if n == len(term) {
			longest = max(longest, i+n)
		}
	}
	return longest
}

// describes reports whether the sentence before a word speaks about attacks, as a tool that finds
// them does.
func (s *scanner) describes(i int) bool {
	for j := i - 1; j >= 0 && j >= i-aboutGap && s.words[j].text != ""; j-- {
		if s.at(j, known.about) > 0 {
			return true
		}
	}
	return false
}

// split splits a text into words.
func (s *scanner) split(text string) {
	s.words = s.words[:0]
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.Is(unicode.Han, r):
			i = s.splitHan(text, i)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			i = s.splitWord(text, i)
		default:
			if endsSentence(text[i:], r, size) {
				s.words = append(s.words, word{start: i, end: i + size})
			}
			i += size
		}
	}
}

// endsSentence reports whether a character at the start of text ends a sentence. A dot within a name
// does not, nor a single line break.
func endsSentence(text string, r rune, size int) bool {
	switch r {
	case '。', '！', '？', '；':
		return true
	case '.', '!', '?', ';':
		return len(text) == size || text[size] == ' ' || text[size] == '\n'
	case '\n':
		return strings.HasPrefix(text[size:], "\n")
	}
	return false
}

// splitHan adds the Chinese word at i and returns where it ends. Characters that the lexicon does not
// have count as words of two.
func (s *scanner) splitHan(text string, i int) int {
	for n := min(known.longest, len(text)-i); n > 0; n-- {
		if known.han[text[i:i+n]] > 0 {
			s.words = append(s.words, word{text: text[i : i+n], start: i, end: i + n})
			return i + n
		}
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	if last := len(s.words) - 1; last >= 0 && s.words[last].text == "字" && s.words[last].end == i {
		s.words[last].text = "字字"
		s.words[last].end = i + size
	} else {
		s.words = append(s.words, word{text: "字", start: i, end: i + size})
	}
	return i + size
}

// splitWord adds the word at i, or an address as one, or the words that a name is made of, and returns
// where it ends.
func (s *scanner) splitWord(text string, i int) int {
	end := i
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' || unicode.Is(unicode.Han, r) {
			break
		}
		end += size
	}
	rest := text[end : end+until(text[end:])]
	address := ""
	switch {
	case strings.HasPrefix(rest, "://"):
		address = anURL
	case strings.HasPrefix(rest, "@") && strings.Contains(rest, "."), strings.HasPrefix(rest, ".") && strings.Contains(rest, "@"):
		address = anMail
	}
	if address != "" {
		s.words = append(s.words, word{text: address, start: i, end: end + len(rest)})
		return end + len(rest)
	}
	is := s.naming(text[i:end])
	first := len(s.words)
	from := i
	for j, r := range text[i:end] {
		at := i + j
		isBreak := r == '_' || r == '-'
		if isBreak || unicode.IsUpper(r) && at > from && !unicode.IsUpper(rune(text[at-1])) {
			s.part(text, from, at, is)
			from = at
			if isBreak {
				from++
			}
		}
	}
	s.part(text, from, end, is)
	for j := first; j < len(s.words); j++ {
		s.words[j].after = len(s.words)
	}
	return end
}

// part adds a word. A dot before it belongs to it, as in .ssh, unless it follows another word.
func (s *scanner) part(text string, from, to int, is naming) {
	if from == to {
		return
	}
	start := from
	if from > 0 && text[from-1] == '.' && (from == 1 || !isCode(text[from-2]) || text[from-2] == '/') {
		start--
	}
	s.words = append(s.words, word{text: strings.ToLower(text[start:to]), naming: is, start: start, end: to})
}

// until is the length of an address's rest.
func until(text string) int {
	text = text[:min(len(text), 200)]
	if n := strings.IndexAny(text, " \t\r\n\"'`<>()[]{},"); n >= 0 {
		return n
	}
	return len(text)
}
