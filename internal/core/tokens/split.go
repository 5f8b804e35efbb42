package tokens

import (
	"unicode"
	"unicode/utf8"
)

// class says what a character is for the pattern that takes texts apart.
type class byte

const (
	other   class = iota // signs, control characters, all else
	upper                // capital and title letters
	lower                // small letters
	either               // letters without case
	mark                 // marks, which are signs, too
	digit                // numbers of any script
	blank                // white space
	newline              // \r and \n, which are white space, too
)

var ascii = func() (t [utf8.RuneSelf]class) {
	for b := range t {
		t[b] = classOf(rune(b))
	}
	return t
}()

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return blank
	case unicode.IsLower(r):
		return lower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.IsLetter(r):
		return either
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	}
	return other
}

// first is the class and the length of the first character; 0 is the length of none. A byte that is not UTF-8 is a sign.
func first(text []byte) (class, int) {
	if len(text) == 0 {
		return other, 0
	}
	if text[0] < utf8.RuneSelf {
		return ascii[text[0]], 1
	}
	r, size := utf8.DecodeRune(text)
	return classOf(r), size
}

func (c class) capital() bool { return c == upper || c == either || c == mark }
func (c class) small() bool   { return c == lower || c == either || c == mark }
func (c class) leads() bool   { return c == other || c == mark || c == blank } // it may stand before a word, and belong to it
func (c class) space() bool   { return c == blank || c == newline }

// split is the length of the first piece of a text. The vocabulary takes texts apart by this pattern:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The first of these that matches does; by hand it takes no longer than the piece is.
func split(text []byte) int {
	c, size := first(text)
	lead := 0
	if c.leads() {
		lead = size
	}
	for _, capitals := range []bool{false, true} {
		if n := word(text[lead:], capitals); n > 0 {
			return lead + n + ending(text[lead+n:])
		}
		if c == mark { // it leads no word, but may be one
			if n := word(text, capitals); n > 0 {
				return n + ending(text[n:])
			}
		}
	}
	if c == digit {
		return digits(text)
	}
	if n := signs(text); n > 0 {
		return n
	}
	return blanks(text)
}

// word calls one of the two by name: a variable for them would move every text to the heap.
func word(text []byte, capitals bool) int {
	if capitals {
		return capitalWord(text)
	}
	return smallWord(text)
}

// smallWord is the length of the word at the start of text that has, behind its capitals, a letter that is none: the last
// capital without case, if no small letter follows. It is 0 if there is none.
func smallWord(text []byte) int {
	end := 0 // behind the last letter that is both
	at := 0
	c, size := first(text)
	for ; size > 0 && c.capital(); c, size = first(text[at:]) {
		at += size
		if c.small() {
			end = at
		}
	}
	if size == 0 || !c.small() {
		return end
	}
	for ; size > 0 && c.small(); c, size = first(text[at:]) {
		at += size
	}
	return at
}

// capitalWord is the length of the capitals at the start of a text in which smallWord finds none.
func capitalWord(text []byte) (n int) {
	for c, size := first(text); size > 0 && c.capital(); c, size = first(text[n:]) {
		n += size
	}
	return n
}

// ending is the length of an English ending such as 's.
func ending(text []byte) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	one := text[1] | 0x20
	switch one {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 {
		switch string([]byte{one, text[2] | 0x20}) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

func digits(text []byte) (n int) {
	for range 3 {
		c, size := first(text[n:])
		if c != digit {
			break
		}
		n += size
	}
	return n
}

// signs is the length of a run of signs, with a space before it and with the ends of lines and slashes behind it.
func signs(text []byte) int {
	n := 0
	if len(text) > 0 && text[0] == ' ' {
		n = 1
	}
	from := n
	for c, size := first(text[n:]); size > 0 && (c == other || c == mark); c, size = first(text[n:]) {
		n += size
	}
	if n == from {
		return 0
	}
	for n < len(text) && (text[n] == '\r' || text[n] == '\n' || text[n] == '/') {
		n++
	}
	return n
}

// blanks is the length of white space up to its last end of a line, or else up to its last character, which belongs to what
// follows it.
func blanks(text []byte) int {
	line, last, n := 0, 0, 0
	for c, size := first(text); size > 0 && c.space(); c, size = first(text[n:]) {
		last = n
		n += size
		if c == newline {
			line = n
		}
	}
	switch {
	case line > 0:
		return line
	case n == len(text) || last == 0:
		return n
	}
	return last
}
