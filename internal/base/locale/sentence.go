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

// hole stands for a name, a number or another sentence. In a translation {1} is the second hole
// of the original.
const hole = "{}"

// sentence is an English sentence of the program and its translation.
type sentence struct {
	english string
	parts   []string // around the holes
	chinese []string // around the holes of the translation
	order   []int    // which hole of the original each of them is
}

// sentences are read once, the most specific first. Errors are text by the time that a person
// reads them, so they are recognized by their text.
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

// sentenceTexts returns the sentences of all files. A test checks them.
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

// Limits, because servers may write anything.
const (
	maxSentence = 4096 // bytes
	maxInside   = 6    // sentences in sentences
)

// Translate translates the program's own sentences, line by line, with the sentences inside them.
// Other text is not changed.
func (l Language) Translate(text string) string {
	if l != Chinese || len(text) > maxSentence {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = translate(line, maxInside)
	}
	return strings.Join(lines, "\n")
}

func translate(text string, inside int) string {
	if inside == 0 || text == "" {
		return text
	}
	// a message with its hint, as fault.Error writes them
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		hint := text[at+2 : len(text)-1]
		if translated := translate(hint, inside-1); translated != hint {
			return translate(text[:at], inside-1) + "（" + translated + "）"
		}
	}
	for _, s := range sentences() {
		if inHoles, ok := s.match(text); ok {
			return s.fill(inHoles, inside-1)
		}
	}
	return text
}

// match reports whether a text is the sentence, and what is in its holes, each as short as
// possible.
func (s *sentence) match(text string) (inHoles []string, ok bool) {
	rest, ok := strings.CutPrefix(text, s.parts[0])
	last := len(s.parts) - 1
	if !ok || last == 0 {
		return nil, ok && rest == ""
	}
	rest, ok = strings.CutSuffix(rest, s.parts[last])
	if !ok {
		return nil, false
	}
	for _, part := range s.parts[1:last] {
		before, after, found := strings.Cut(rest, part)
		if !found {
			return nil, false
		}
		inHoles = append(inHoles, before)
		rest = after
	}
	return append(inHoles, rest), true
}

// fill fills the holes of the translation.
func (s *sentence) fill(inHoles []string, inside int) string {
	var b strings.Builder
	for i, text := range s.chinese {
		b.WriteString(text)
		if i < len(s.order) && s.order[i] < len(inHoles) {
			b.WriteString(translate(inHoles[s.order[i]], inside))
		}
	}
	return b.String()
}
