package static

import "strings"

// The characters of a token: maxWord letters, or maxGram Han characters.
const (
	maxWord = 24
	maxGram = 4
)

// tokens emits the tokens of a text, in the way that the model was trained with: words of ASCII
// letters and digits, in lower case and split as camelCase is; of other characters only Han,
// each alone and with its neighbors.
func tokens(text string, emit func(token string)) {
	var run []rune
	isHan := false
	end := func() {
		if isHan {
			grams(run, emit)
		} else {
			words(run, emit)
		}
		run = run[:0]
	}
	for _, r := range text {
		r = Plain(r)
		switch {
		case han(r):
			if !isHan {
				end()
			}
			isHan = true
			run = append(run, r)
		case lower(r) || upper(r) || r >= '0' && r <= '9':
			if isHan {
				end()
			}
			isHan = false
			run = append(run, r)
		default:
			end()
		}
	}
	end()
}

// grams emits each Han character, alone and with up to three that follow.
func grams(run []rune, emit func(string)) {
	for i := range run {
		for n := 1; n <= maxGram && i+n <= len(run); n++ {
			emit(string(run[i : i+n]))
		}
	}
}

// words emits the words of a run of letters and digits. A single letter stays with what follows
// it, as in OAuth or iPhone.
func words(run []rune, emit func(string)) {
	start := 0
	for i := range run {
		if i > 1 && upper(run[i]) && i-start > 1 && startsWord(run, i) {
			emitWord(run[start:i], emit)
			start = i
		}
	}
	emitWord(run[start:], emit)
}

func emitWord(word []rune, emit func(string)) {
	if len(word) > 0 && len(word) <= maxWord {
		emit(strings.ToLower(string(word)))
	}
}

// startsWord reports whether a word begins at the capital run[i]: deleteFile, HTTPServer, but
// not URLs.
func startsWord(run []rune, i int) bool {
	if !upper(run[i-1]) {
		return true
	}
	next := run[i+1:]
	if len(next) == 0 || !lower(next[0]) {
		return false
	}
	isPlural := next[0] == 's' && (len(next) == 1 || !lower(next[1]))
	return !isPlural
}

func lower(r rune) bool { return r >= 'a' && r <= 'z' }
func upper(r rune) bool { return r >= 'A' && r <= 'Z' }
func han(r rune) bool   { return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF }

// unaccented are the base letters of U+00C0 to U+017F.
const unaccented = "AAAAAAACEEEEIIIIDNOOOOO OUUUUYTsaaaaaaaceeeeiiiidnooooo ouuuuyty" +
	"AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs"

// Plain returns the ordinary form of a full-width character or accented Latin letter.
func Plain(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case r >= 0xC0 && r < 0x180:
		return rune(unaccented[r-0xC0])
	}
	return r
}
