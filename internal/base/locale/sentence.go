package locale

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// hole is where a sentence has a name, a number or another sentence. In a translation {1} is
// the second hole of the original.
const hole = "{}"

// sentence is one that a part of ours says in English, and what it is in Chinese.
type sentence struct {
	english string
	parts   []string // what stands around the holes
	chinese []string // and around those of the translation
	order   []int    // which hole of the original each of them is
}

// sentences are read once, those that say the most first. Faults, reasons and records are
// text by the time that a person reads them, so they are known by how they read.
var sentences = sync.OnceValue(func() []sentence {
	var all []sentence
	for english, chinese := range sentenceTexts() {
		all = append(all, newSentence(english, chinese))
	}
	slices.SortFunc(all, func(a, b sentence) int {
		return cmp.Or(len(b.parts[0])-len(a.parts[0]), len(b.english)-len(a.english), strings.Compare(a.english, b.english))
	})
	return all
})

// sentenceTexts are the sentences of all files, which are part of the program; a test reads them.
func sentenceTexts() map[string]string {
	texts := map[string]string{}
	names, _ := fs.Glob(files, "sentences*.zh.json") // the pattern is well formed
	for _, name := range names {
		data, _ := files.ReadFile(name)
		json.Unmarshal(data, &texts)
	}
	return texts
}

var chineseHole = regexp.MustCompile(`\{(\d?)\}`)

func newSentence(english, chinese string) sentence {
	s := sentence{english: english, parts: strings.Split(english, hole), chinese: chineseHole.Split(chinese, -1)}
	for i, m := range chineseHole.FindAllStringSubmatch(chinese, -1) {
		at, err := strconv.Atoi(m[1])
		if err != nil {
			at = i
		}
		s.order = append(s.order, at)
	}
	return s
}

// maxSentence bounds what is read as a sentence, and maxInside how deep one is in another:
// what servers write may be anything.
const maxSentence, maxInside = 4096, 4

// Say says a sentence of ours in the language. It takes every line for itself, and the
// sentences inside. What is none of ours stays as it is.
func (l Language) Translate(text string) string {
	if l != Chinese || len(text) > maxSentence {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = say(line, maxInside)
	}
	return strings.Join(lines, "\n")
}

func say(text string, inside int) string {
	if inside == 0 || text == "" {
		return text
	}
	// A message with its hint: fault.Error writes them so.
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		hint := text[at+2 : len(text)-1]
		if said := say(hint, inside-1); said != hint {
			return say(text[:at], inside-1) + "（" + said + "）"
		}
	}
	for _, s := range sentences() {
		if inHoles, said := s.read(text); said {
			return s.with(inHoles, inside-1)
		}
	}
	return text
}

// read tells whether a text is the sentence, and what is in its holes: of two ways to fill
// them, the one that ends each as soon as it can.
func (s *sentence) read(text string) (inHoles []string, said bool) {
	rest, said := strings.CutPrefix(text, s.parts[0])
	last := len(s.parts) - 1
	if !said || last == 0 {
		return nil, said && rest == ""
	}
	if rest, said = strings.CutSuffix(rest, s.parts[last]); !said {
		return nil, false
	}
	for _, part := range s.parts[1:last] {
		before, after, found := strings.Cut(rest, part)
		if !found {
			return nil, false
		}
		inHoles, rest = append(inHoles, before), after
	}
	return append(inHoles, rest), true
}

// with fills the holes.
func (s *sentence) with(inHoles []string, inside int) string {
	var b strings.Builder
	for i, text := range s.chinese {
		b.WriteString(text)
		if i < len(s.order) && s.order[i] < len(inHoles) {
			b.WriteString(say(inHoles[s.order[i]], inside))
		}
	}
	return b.String()
}
