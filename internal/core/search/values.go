package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pieces splits a text into values and what is between them. Values are quoted texts, addresses,
// paths and words with digits: what a tool is to be given, rather than what it does.
func pieces(text string, emit func(piece string, value bool)) {
	start := 0
	for i := 0; i < len(text); {
		size := quoted(text, i)
		isValue := size > 0
		if !isValue {
			size = fieldLength(text[i:])
			isValue = looksLikeValue(text[i : i+size])
		}
		if isValue {
			emit(text[start:i], false)
			emit(text[i:i+size], true)
			start = i + size
		}
		if size == 0 {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
	}
	emit(text[start:], false)
}

// quotes are opening quotation marks, each with the closing one.
var quotes = map[rune]string{'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '「': "」", '《': "》"}

// quoted returns the length of the quoted text at i, or 0. An apostrophe is no quotation mark.
func quoted(text string, i int) int {
	r, size := utf8.DecodeRuneInString(text[i:])
	end, ok := quotes[r]
	if !ok {
		return 0
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:i]); r == '\'' && unicode.IsLetter(before) {
		return 0
	}
	n := strings.Index(text[i+size:], end)
	if n <= 0 {
		return 0
	}
	return size + n + len(end)
}

// fieldLength returns the length of the run of ASCII characters without spaces at the start of a
// text. A quotation mark ends it.
func fieldLength(text string) int {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= utf8.RuneSelf || c == '"' {
			return i
		}
	}
	return len(text)
}

func looksLikeValue(field string) bool {
	if field == "" {
		return false
	}
	return strings.ContainsAny(field, "0123456789") || strings.Contains(field, "://") ||
		strings.IndexByte(field, '@') > 0 || len(field) > 2 && strings.Contains("/~.", field[:1]) && strings.Contains(field, "/")
}

// capitalized returns the words that are capitalized inside a sentence, in lower case.
func capitalized(text string) map[string]bool {
	var set map[string]bool
	eachName(text, func(word string) string {
		if set == nil {
			set = map[string]bool{}
		}
		for part := range strings.SplitSeq(strings.ToLower(word), "-") {
			set[part] = true
		}
		return word
	})
	return set
}

// eachName replaces the words that are capitalized inside a sentence; Ji-sung is one.
func eachName(text string, replace func(word string) string) string {
	var b strings.Builder
	first := true // of a sentence
	for i := 0; i < len(text); {
		n := strings.IndexFunc(text[i:], func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
		if n < 0 {
			n = len(text) - i
		}
		word := text[i : i+n]
		if !first && isCapitalized(word) {
			b.WriteString(replace(word))
		} else {
			b.WriteString(word)
		}
		if n > 0 {
			first = false
		}
		i += n
		if i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if strings.ContainsRune(".?!:\"'(\n", r) {
				first = true
			}
			b.WriteString(text[i : i+size])
			i += size
		}
	}
	return b.String()
}

// isCapitalized reports whether a word has one capital, at its beginning.
func isCapitalized(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r) && len(word) > size && strings.IndexFunc(word[size:], unicode.IsUpper) < 0
}
