package find

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed words.txt
var wordsFile string

// wordLists are the sections of words.txt, line by line.
var wordLists = readWordLists(wordsFile)

func readWordLists(text string) map[string][]string {
	lists := map[string][]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		default:
			lists[section] = append(lists[section], line)
		}
	}
	return lists
}

func wordsOf(section string) []string { return strings.Fields(strings.Join(wordLists[section], " ")) }

func set(section string) map[string]bool {
	m := map[string]bool{}
	for _, w := range wordsOf(section) {
		m[w] = true
	}
	return m
}

// The word lists; words.txt says what each is for.
var (
	stopWords      = set("stop")
	weakWords      = set("weak")
	holders        = set("holders")
	structural     = set("structure")
	reversing      = set("reversing")
	reversingHan   = wordsOf("reversing-han")
	reversingMarks = wordsOf("reversing-marks")
	negating       = set("negating")
	apartWords     = set("apart")
	apartHan       = wordsOf("apart-han")
	verbs          = set("verbs")
	verbsHan       = wordsOf("verbs-han")
	searchVerbs    = set("search-verbs")
	kindNouns      = set("kind-nouns")
	contents       = set("contents")
	imperatives    = set("imperatives")
	modifiers      = set("modifiers")
	particles      = set("particles")
	saidParticles  = set("said-particles")
)

// synonym is one entry of the lexicon.
type synonym struct {
	phrase phrase
	group  int
	icon   bool // only for icons
}

// synonyms are the entries, the longest first, and the members of each group.
type synonyms struct {
	entries []synonym
	groups  [][]phrase
}

// newSynonyms reads the lexicon and a project's own lines of the same form.
func newSynonyms(lines ...string) *synonyms {
	s := &synonyms{}
	written := slices.Concat(wordLists["synonyms"], lines)
	for g, line := range slices.Concat(written, wordLists["icons"]) {
		var members []phrase
		for _, part := range entriesOf(line) {
			p := read(part)
			members = append(members, p)
			s.entries = append(s.entries, synonym{p, g, g >= len(written)})
		}
		s.groups = append(s.groups, members)
	}
	slices.SortStableFunc(s.entries, func(a, b synonym) int { return len(b.phrase.joined) - len(a.phrase.joined) })
	return s
}

// entriesOf cuts a line at commas, and Chinese words at spaces, too.
func entriesOf(line string) (entries []string) {
	for part := range strings.SplitSeq(line, ",") {
		var rest []string
		for w := range strings.FieldsSeq(part) {
			if strings.ContainsFunc(w, isHan) {
				entries = append(entries, w)
			} else {
				rest = append(rest, w)
			}
		}
		if len(rest) > 0 {
			entries = append(entries, strings.Join(rest, " "))
		}
	}
	return entries
}

// variants are the phrase and its forms with synonyms; for an icon also with what icons show.
func (s *synonyms) variants(p phrase, icon bool) []phrase {
	list := []phrase{p}
	for _, e := range s.entries {
		if len(list) > maxVariants {
			break
		}
		rest, found := p.cut(e.phrase)
		if !found || e.phrase.words[0].kind == ident || e.icon && !icon {
			continue
		}
		for _, other := range s.groups[e.group] {
			if !other.equal(e.phrase) {
				list = append(list, phraseOf(append(slices.Clone(rest), other.words...)))
			}
		}
	}
	return list
}

const maxVariants = 60

// reverses tells whether a word that the query does not say turns the label's meaning.
func reverses(w word) bool {
	if w.kind != han {
		return reversing[w.text] || strings.HasPrefix(w.text, "un") && len(w.text) > 4
	}
	return slices.ContainsFunc(reversingHan, func(r string) bool { return strings.Contains(w.text, r) })
}

// sets tells whether a word that the query lacks makes the label another thing.
func sets(w word) bool {
	if w.kind != han {
		return apartWords[w.text]
	}
	return strings.HasPrefix(w.text, "的") || slices.ContainsFunc(apartHan, func(a string) bool { return strings.HasPrefix(w.text, a) })
}

// inflected tells whether a label has the name only in another form: "Phone cases" are no phones.
func inflected(label, name phrase) bool {
	return slices.ContainsFunc(name.words, func(w word) bool {
		return w.kind == latin && !stopWords[w.text] && !slices.ContainsFunc(label.words, func(v word) bool { return v.text == w.text })
	})
}

// does tells whether the label does something with the name: "place order" is not "order".
func does(label, name phrase) bool {
	first := label.words[0]
	return verbs[first.text] && !slices.ContainsFunc(name.words, first.same)
}

// marked tells whether the label reverses the name (未登录, 注册新账号) or searches by it ("search by email").
func marked(label, name phrase) bool {
	first := label.words[0]
	searches := searchVerbs[first.text] && slices.ContainsFunc(label.words, func(w word) bool { return w.text == "by" || w.text == "or" })
	if searches && !slices.ContainsFunc(name.words, first.same) {
		return true
	}
	for _, w := range name.words {
		for _, l := range label.words {
			before, found := strings.CutSuffix(l.text, w.text)
			if w.kind == han && found && turns(before) {
				return true
			}
		}
	}
	return false
}

func turns(before string) bool {
	return slices.ContainsFunc(reversingMarks, func(m string) bool { return strings.HasSuffix(before, m) }) ||
		slices.ContainsFunc(verbsHan, func(v string) bool { return strings.HasPrefix(before, v) })
}
