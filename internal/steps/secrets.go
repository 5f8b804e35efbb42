package steps

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden stands where a secret stood.
const hidden = "•••"

// secrets are texts that are masked, the longest first, so that one that holds another leaves
// nothing behind.
type secrets []secret

type secret struct {
	text   string
	pieces []*regexp.Regexp // all that each part of it may be written as, one behind the other
}

// Hide has a text masked from now on. An empty one is none.
func (v *Vars) Hide(text string) {
	if strings.TrimSpace(text) == "" || slices.ContainsFunc(v.secrets, func(s secret) bool { return s.text == text }) {
		return
	}
	at := slices.IndexFunc(v.secrets, func(s secret) bool { return len(s.text) < len(text) })
	if at < 0 {
		at = len(v.secrets)
	}
	v.secrets = slices.Insert(v.secrets, at, secret{text, piecesOf(text)})
}

// Mask replaces every secret that was used so far, however it is written.
func (v *Vars) Mask(text string) string {
	for _, s := range v.secrets {
		text = s.mask(text)
	}
	return text
}

// mask replaces the first piece and what follows of the others: also half of a certificate is
// a secret.
func (s secret) mask(text string) string {
	if len(s.pieces) == 1 {
		return s.pieces[0].ReplaceAllLiteralString(text, hidden)
	}
	var b strings.Builder
	for {
		at := s.pieces[0].FindStringIndex(text)
		if at == nil {
			return b.String() + text
		}
		b.WriteString(text[:at[0]] + hidden)
		text = text[at[1]:]
		for _, piece := range s.pieces[1:] {
			more := piece.FindStringIndex(text)
			if more == nil {
				break
			}
			text = text[more[1]:]
		}
	}
}

// pieceSize is how many characters of a secret are looked for at once: the time that a pattern
// takes grows with its length.
const pieceSize = 128

// piecesOf matches a secret as it stands, and as it stands inside JSON, code, HTML and
// addresses, of which some escape more than others. Space may be any space: pages join it.
func piecesOf(text string) (list []*regexp.Regexp) {
	var b strings.Builder
	size, last, space := 0, ' ', false
	for _, r := range strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd")) {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if size >= pieceSize && !space && !strings.ContainsRune(`\%&+`, last) { // where one of these ends, what follows tells
			list = append(list, regexp.MustCompile(b.String()))
			b.Reset()
			b.WriteString("^")
			size = 0
		}
		if space {
			b.WriteString(`(?:\s|\x{a0}|\+|%20|%0[9AaDd]|%[Cc]2%[Aa]0|\\+[nrt]|&nbsp;)+`)
			space = false
		}
		b.WriteString(formsOfRune(r))
		size, last = size+1, r
	}
	return append(list, regexp.MustCompile(b.String())) // all of it is quoted
}

// entities are how HTML writes what it cannot write itself.
var entities = map[rune]string{'&': "amp|#38", '<': "lt|#60", '>': "gt|#62", '"': "quot|#34", '\'': "apos|#39|#x27"}

func formsOfRune(r rune) string {
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return string(r) // which nobody escapes
	}
	plain := regexp.QuoteMeta(string(r))
	forms := []string{plain, "(?i:" + percents(r) + ")"}
	if r < 0x10000 {
		forms = append(forms, fmt.Sprintf(`\\+u(?i:%04x)`, r))
	}
	if r < utf8.RuneSelf {
		forms = append(forms, `\\+`+plain)
	}
	if names := entities[r]; names != "" {
		forms = append(forms, "&(?:"+names+");")
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}

// percents is a character as addresses escape it.
func percents(r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

// envName is a variable of the environment that a text names.
var envName = regexp.MustCompile(`\$?\$\{env:([^}]*)\}`)

// envNames are those that a file names, each once.
func envNames(known []string, data []byte) []string {
	for _, m := range envName.FindAllSubmatch(data, -1) {
		if name := string(m[1]); !strings.HasPrefix(string(m[0]), "$$") && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	return known
}
