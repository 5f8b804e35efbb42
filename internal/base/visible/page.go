package visible

import (
	"bytes"
	"html"
	"regexp"
	"strings"
)

var (
	pageStart = regexp.MustCompile(`(?i)^(<\?xml[^>]*>|<!--.*?-->|\s)*<(!doctype html|html|head|body)\b`)
	pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)
	pageMarks = regexp.MustCompile(`(?is)<(script|style)\b.*?(</(script|style)>|$)|<[^>]*(>|$)`)
)

// maxPage is how many bytes of a page are examined.
const maxPage = 64 << 10

// Page reports whether text is a web page, which a wrong server sends, and returns its title in
// quotes, or its first words; "" for none. The beginning of the page is enough.
func Page(text []byte) (title string, is bool) {
	text = bytes.TrimPrefix(text[:min(len(text), maxPage)], []byte("\ufeff"))
	if !pageStart.Match(text) {
		return "", false
	}
	words := pageMarks.ReplaceAll(text, []byte(" "))
	if m := pageTitle.FindSubmatch(text); m != nil {
		words = m[1]
	}
	title = strings.Join(strings.Fields(Text(html.UnescapeString(strings.ToValidUTF8(string(words), "")))), " ")
	if runes := []rune(title); len(runes) > 80 {
		title = string(runes[:80]) + "…"
	}
	if title == "" {
		return "", true
	}
	return ` "` + title + `"`, true
}
