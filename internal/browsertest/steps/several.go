package steps

import (
	"regexp"
	"strings"
)

// each are the actions that can be done to several elements, one after the other.
var each = map[Action]bool{Click: true, Check: true, Uncheck: true, Expand: true, Collapse: true, DblClick: true, Hover: true}

var (
	commas  = regexp.MustCompile(`(?i)\s*(?:[,，、]\s*(?:and\s+|和)?|\s(?:and|as\s+well\s+as|&)\s|以及|和|及)\s*`)
	isQuote = compile(`\s*QUOTED\s*`)
	// plural begins a list of elements of one kind, and pluralEnd ends one.
	plural = regexp.MustCompile(`(?i)^((?:the\s+)?(?:\S+\s+)??(?:` + kinds + `))(?:es|s)((?:\s+(?:labell?ed|named|called|titled|for|of|with|next\s+to` +
		`|in\s+the\s+rows?\s+(?:of|with|for)))?)(?:\s*:)?\s+(.+)$`)
	pluralEnd = regexp.MustCompile(`(?i)^(?:the\s+)?(.+?)\s*(?:复选框|多选框|按钮|选项|\s(` + kinds + `)(?:es|s)?)$`)
	all       = regexp.MustCompile(`(?i)^(?:(?:both|all|each)(?:\s+of)?(?:\s+the\s+following)?|the\s+following)\s*:?\s+(?:the\s+)?`)
	hasPlace  = regexp.MustCompile(`(?i)\s(?:in|of|for|from|on|at|with|next\s+to|under|below|above)\s|的|or\s|\sor$|[“"]`)
)

const kinds = `check\s?box|box|radio\s+button|button|link|option|item|section|panel|tab|switch|toggle|icon|tile|card|folder|name|entry`

// several are the elements that a text names, each in the words that mean it alone. They are certain where
// nothing else can be meant; else "Red and Blue" may be one name.
func several(text string, action Action, chooses bool) (list []string, certain bool) {
	if rest := all.ReplaceAllString(text, ""); rest != text && len(parts(rest)) > 1 {
		text = rest
		certain = true
	}
	if m := plural.FindStringSubmatch(text); m != nil && len(parts(m[3])) > 1 {
		before := m[1] + strings.Replace(m[2], "rows", "row", 1) + " "
		for _, p := range parts(m[3]) {
			list = append(list, before+p)
		}
		return list, true
	}
	kind := ""
	if m := pluralEnd.FindStringSubmatch(text); m != nil && len(parts(m[1])) > 1 && (quoted(parts(m[1])) || m[2] != "" && strings.HasSuffix(text, "s")) {
		text = m[1]
		if certain = true; !quoted(parts(m[1])) {
			kind = " " + m[2]
		}
	}
	list = parts(text)
	if quoted(list) {
		certain = true
	}
	mayBe := certain || len(list) > 2 || action != Click || chooses
	if len(list) < 2 || !mayBe || !certain && hasPlace.MatchString(text) {
		return nil, false
	}
	for i := range list {
		list[i] += kind
	}
	return list, certain
}

// parts cuts a list at its commas and "and".
func parts(text string) (list []string) {
	for _, p := range commas.Split(text, -1) {
		if p = strings.TrimSpace(p); p == "" || len(p) > 60 {
			return nil
		}
		list = append(list, p)
	}
	return list
}

func quoted(list []string) bool {
	for _, p := range list {
		if !isQuote.MatchString(p) {
			return false
		}
	}
	return true
}
