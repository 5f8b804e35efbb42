package search

import (
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/dictionary"
)

// How much a translation counts. A word that the tools use is not translated from Chinese: a
// catalog has few Chinese words by chance. An English one always is: the names of tools are
// English in Chinese catalogs too.
const (
	fromChinese = .6
	fromEnglish = .4
	perNext     = .7 // each further translation of the same word, relative to the one before
	longestWord = 4  // characters of a Chinese word in the dictionary
)

// translate adds the translations of the words in a text.
func (x *Index) translate(list []weighted, text string) []weighted {
	chineseWords(text, func(word string, translations []string) {
		if !x.knows(word) {
			list = x.includeAll(list, translations, fromChinese)
		}
	})
	if !x.chinese {
		return list
	}
	read(text, func(_, word string, joined bool) {
		if word != "" && !joined && !vague[stem(word)] {
			list = x.includeAll(list, dictionary.Translate(word), fromEnglish)
		}
	})
	return list
}

// includeAll adds the terms of translations, best first.
func (x *Index) includeAll(list []weighted, translations []string, weight float32) []weighted {
	for _, word := range translations {
		for _, term := range termsOf(word) {
			if id, ok := x.terms[term]; ok {
				list = include(list, id, weight)
			}
		}
		weight *= perNext
	}
	return list
}

// knows reports whether the tools use a Chinese word.
func (x *Index) knows(word string) bool {
	for _, term := range termsOf(word) {
		if _, ok := x.terms[term]; !ok {
			return false
		}
	}
	return true
}

// chineseWords emits the words of the dictionary in a text, the longest at each place.
func chineseWords(text string, emit func(word string, translations []string)) {
	for i := 0; i < len(text); {
		word, translations := chineseWord(text[i:])
		if word != "" {
			emit(word, translations)
			i += len(word)
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
}

// chineseWord returns the longest word of the dictionary with which a text begins.
func chineseWord(text string) (string, []string) {
	var ends []int
	for i, r := range text {
		if !unicode.Is(unicode.Han, r) || len(ends) == longestWord {
			break
		}
		ends = append(ends, i+utf8.RuneLen(r))
	}
	for len(ends) > 1 {
		word := text[:ends[len(ends)-1]]
		if translations := dictionary.Translate(word); translations != nil {
			return word, translations
		}
		ends = ends[:len(ends)-1]
	}
	return "", nil
}
