package steps

import (
	"encoding/json"
	"fmt"
	"net/url"
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
	text  string
	forms *regexp.Regexp    // all that it may be written as; nil for a long one
	usual *strings.Replacer // the usual forms of a long one
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
	one := secret{text: text}
	if len(text) > maxForms {
		one.usual = usualForms(text)
	} else {
		one.forms = formsOf(text)
	}
	v.secrets = slices.Insert(v.secrets, at, one)
}

// Mask replaces every secret that was used so far, however it is written.
func (v *Vars) Mask(text string) string {
	for _, s := range v.secrets {
		if s.forms != nil {
			text = s.forms.ReplaceAllLiteralString(text, hidden)
		} else {
			text = s.usual.Replace(text)
		}
	}
	return text
}

// maxForms is the longest secret of which each character is known in all its forms: to look
// for a longer one in that way takes too long.
const maxForms = 256

// usualForms are those of a certificate or a token.
func usualForms(text string) *strings.Replacer {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	inJSON, _ := json.Marshal(text) // a string
	joined := strings.Join(strings.Fields(text), " ")
	var pairs []string
	for _, form := range []string{text, string(inJSON[1 : len(inJSON)-1]), joined, url.QueryEscape(text), url.PathEscape(text), strings.ReplaceAll(text, "\n", `\n`)} {
		pairs = append(pairs, form, hidden)
	}
	return strings.NewReplacer(pairs...)
}

// formsOf matches a secret as it stands, and as it stands inside JSON, code, HTML and
// addresses, of which some escape more than others. Space may be any space: pages join it.
func formsOf(text string) *regexp.Regexp {
	var b strings.Builder
	space := false
	for _, r := range strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd")) {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteString(`(?:\s|\x{a0}|\+|%20|%0[9AaDd]|%[Cc]2%[Aa]0|\\[nrt]|&nbsp;)+`)
			space = false
		}
		b.WriteString(formsOfRune(r))
	}
	return regexp.MustCompile(b.String()) // all of it is quoted
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
		forms = append(forms, fmt.Sprintf(`\\u(?i:%04x)`, r))
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
