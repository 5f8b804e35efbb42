package scan

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/toolfit/toolfit/internal/base/visible"
)

// What a page does not show, and what imitates the frame of a conversation.
var (
	comment  = regexp.MustCompile(`(?s)<!--.{3,}?(-->|$)|\[//\]: ?# ?[("'].{3,}?[)"']`)
	unstyled = regexp.MustCompile(
		`(?i)(display: ?none|visibility: ?hidden|font-size: ?0|opacity: ?0\b|color: ?(white|#fff|transparent))[^>]{0,80}>`)
	frame = regexp.MustCompile(`(?i)</?(important|system|secret|hidden|assistant|instructions?|admin|override|critical|` +
		`sys(tem)?[_ -]?(prompt|message|note|instructions?|reminder|override))>|<\|[a-z_]{3,20}\|>|\[/?(INST|SYSTEM|SYS|ADMIN)\]|<</?SYS>>|` +
		`(?m:^#{2,} ?(system|instructions?):)`)
)

// reveal reports what is hidden in a text, and returns the text with it in plain sight, in the forms
// of letters that the lexicon has.
func (s *scanner) reveal(text string, path []string) string {
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	if !isPlain(text) {
		text = s.fold(norm.NFKC.String(s.characters(text, path)), path)
	}
	if strings.Contains(text, "<!--") || strings.Contains(text, "[//]") {
		if m := comment.FindString(text); m != "" {
			s.add(Hidden, path, m, "it has a comment, which a page does not show")
		}
	}
	if strings.ContainsAny(text, "<[#") {
		for _, m := range unstyled.FindAllStringIndex(text, -1) {
			from := max(0, m[0]-80)
			if at := strings.LastIndexAny(text[from:m[0]], "<>"); at >= 0 && text[from+at] == '<' { // within a tag
				s.add(Hidden, path, text[from+at:], "it has text that a page does not show")
				break
			}
		}
		if m := frame.FindStringIndex(text); m != nil {
			s.add(Instruction, path, text[m[0]:], "it imitates the marks of a system message")
		}
	}
	if at := farText(text); at > 0 {
		s.add(Hidden, path, text[at:], "it has text far behind blank space")
	}
	return text
}

// isPlain reports whether a text has printable ASCII and line breaks only.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// characters reports invisible characters and returns the text without them. Letters that are written
// in tag characters are added in plain ones.
func (s *scanner) characters(text string, path []string) string {
	rtl := strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac) })
	runes := []rune(text)
	plain := make([]rune, 0, len(runes))
	var tags []rune
	hidden, terminal := -1, -1
	inFlag := false
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return 0
		}
		return runes[i]
	}
	for i, r := range runes {
		last := at(i - 1)
		inFlag = last == 0x1F3F4 || inFlag && isTag(last) // the flags of regions end in tag characters
		switch {
		case r == 0x1b || r == 0x9b:
			terminal = i
		case r == '\r' || isTag(r) && inFlag || i == 0 && r == 0xFEFF:
		case isTag(r):
			tags = append(tags, r-0xE0000)
		case isVariation(r):
			if isVariation(last) { // one belongs to the character before it; several carry bytes
				hidden = i
			}
		case visible.Hidden(r) || r == 0x2800 || unicode.Is(unicode.Co, r): // 0x2800 is a braille pattern without dots
			if !hasPurpose(r, last, at(i+1), rtl) {
				hidden = i
			}
		default:
			plain = append(plain, r)
		}
	}
	around := func(i int) string { return string(runes[max(0, i-40):min(len(runes), i+60)]) }
	if terminal >= 0 {
		s.add(Hidden, path, around(terminal), "it has terminal sequences, which hide text on a screen")
	}
	switch {
	case len(tags) > 0:
		s.add(Hidden, path, string(tags), "it has text in invisible characters")
		plain = append(append(plain, '\n'), tags...)
	case hidden >= 0:
		s.add(Hidden, path, around(hidden), "it has invisible characters")
	}
	return string(plain)
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

func isVariation(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// hasPurpose reports whether an invisible character does something where it stands, in a script or
// an emoji that needs it.
func hasPurpose(r, last, next rune, rtl bool) bool {
	switch r {
	case 0x200C, 0x200D: // joiners
		return last >= 0x0590 && next >= 0x0590
	case 0x200E, 0x200F, 0x061C: // direction marks
		return rtl
	case 0x200B: // where words may be parted in scripts without spaces
		return last >= 0x0E00 && next >= 0x0E00 && unicode.IsLetter(last)
	case 0xAD, 0x85, 0x2028, 0x2029: // hyphenation, line breaks
		return true
	}
	return false
}

// alike are letters that look like Latin ones.
var alike = func() map[rune]rune {
	m := map[rune]rune{}
	latin := []rune("aceopxyisjhdqwbABCEHIKMOPTXYSJaoivtuABEZHIKMNOPTYX")
	for i, r := range []rune("асеорхуіѕјһԁԛԝЬАВСЕНІКМОРТХУЅЈαοιντυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ") {
		m[r] = latin[i]
	}
	return m
}()

// fold reports words of Latin letters with letters among them that only look Latin, and returns the
// text with Latin ones instead. Greek ones stand in formulas and units, and count only in longer words.
func (s *scanner) fold(text string, path []string) string {
	var out strings.Builder
	from := 0
	for from < len(text) {
		n := strings.IndexFunc(text[from:], func(r rune) bool { return !unicode.IsLetter(r) })
		if n < 0 {
			n = len(text) - from
		}
		word := text[from : from+n]
		plain, latin, foreign := "", 0, 0
		if n > 0 && !isPlain(word) {
			plain = strings.Map(func(r rune) rune {
				switch {
				case r < 0x80:
					latin++
				case alike[r] != 0:
					return alike[r]
				default:
					foreign++
				}
				return r
			}, word)
		}
		if plain != "" && plain != word && foreign == 0 && latin >= 2 {
			s.add(Hidden, path, word, "it has letters of another script that look like Latin ones")
			word = plain
		}
		out.WriteString(word)
		from += n
		_, size := utf8.DecodeRuneInString(text[from:])
		out.WriteString(text[from : from+size])
		from += size
	}
	return out.String()
}

// farText is where text goes on after more blank space than a window shows; 0: nowhere.
func farText(text string) int {
	blanks, breaks := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '\n':
			breaks++
			blanks++
		case ' ', '\t', '\r':
			blanks++
		default:
			if i > blanks && (blanks >= 200 || breaks >= 16) {
				return i
			}
			blanks, breaks = 0, 0
		}
	}
	return 0
}

// encoded examines what base64 and hexadecimal digits in a text stand for. It is suspicious only if
// the lexicon has something about it: values of examples are often encoded.
func (s *scanner) encoded(text string, path []string) {
	const least = 24
	from := -1
	for i := range len(text) + 1 {
		if i < len(text) && isCode(text[i]) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 && i-from >= least {
			for _, plain := range decoded(text[from:i]) {
				if s.speaks(plain) {
					s.add(Hidden, path, plain, "it has encoded text with orders or commands")
				}
			}
		}
		from = -1
	}
}

func isCode(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// decoded is what encoded text may stand for, as far as that is text.
func decoded(code string) (texts []string) {
	add := func(plain []byte, err error) {
		if err == nil && utf8.Valid(plain) {
			texts = append(texts, string(plain))
		}
	}
	add(hex.DecodeString(code))
	add(base64.RawStdEncoding.DecodeString(code))
	if strings.ContainsAny(code, "-_") {
		add(base64.RawURLEncoding.DecodeString(code))
	}
	return texts
}
