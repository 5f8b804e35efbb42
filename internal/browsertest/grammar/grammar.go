// Package grammar is what sentences and descriptions of elements have in common, in Chinese
// and English: quoted texts, numbers, ordinals, and names of persons. It is pure.
//
//	text, size := grammar.Quoted(`"Save" button`, "")  // Save, 6
//	n := grammar.Number("十二")                         // 12
package grammar

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var quotes = map[rune]rune{'"': '"', '“': '”', '「': '」', '『': '』', '‘': '’', '\'': '\'', '＂': '＂', '`': '`'}

// Quoted is the text in quotes that s begins with, and how many bytes it takes with them; 0
// for none. Before is what precedes s: an apostrophe after a letter opens nothing.
func Quoted(s, before string) (text string, size int) {
	r, open := utf8.DecodeRuneInString(s)
	end, opens := quotes[r]
	if !opens || r == '\'' && endsInWord(before) {
		return "", 0
	}
	i := strings.IndexRune(s[open:], end)
	if i < 0 {
		return "", 0
	}
	return s[open : open+i], open + i + utf8.RuneLen(end)
}

func endsInWord(s string) bool {
	return s != "" && s[len(s)-1] != ' ' && s[len(s)-1] < utf8.RuneSelf
}

// Numeral matches a number in digits or in Chinese, Ordinals an English ordinal in letters.
const (
	Numeral  = `(?:\d+|[一二两三四五六七八九十]+)`
	Ordinals = `first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth`
)

var (
	ordinals = strings.Split(Ordinals, "|")
	digits   = []rune("零一二三四五六七八九")
)

// Number reads digits or Chinese numerals up to 99; 0 for anything else.
func Number(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 1_000_000 {
		return n
	}
	total, digit := 0, 0
	for _, r := range strings.ReplaceAll(s, "两", "二") {
		if r == '十' {
			total += max(digit, 1) * 10
			digit = 0
			continue
		}
		digit = slices.Index(digits, r)
		if digit < 0 {
			return 0
		}
	}
	return total + digit
}

// Ordinal reads second, 2nd and last, which is -1; 0 for anything else.
func Ordinal(word string) int {
	word = strings.ToLower(word)
	if word == "last" {
		return -1
	}
	if n := slices.Index(ordinals, word) + 1; n > 0 || len(word) < 3 {
		return n
	}
	if slices.Contains([]string{"st", "nd", "rd", "th"}, word[len(word)-2:]) {
		return Number(word[:len(word)-2])
	}
	return 0
}

var personName = regexp.MustCompile(`(?i)^(?:first|second|last|given) names?\b`)

// IsPersonName tells whether a text begins with a part of a person's name, such as "First
// name": then the word says of whom, and neither which of several nor in what order.
func IsPersonName(text string) bool { return personName.MatchString(text) }
