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
	plural = regexp.MustCompile(`(?i)^((?:the\s+)?(?:\S+\s+)??(?:` + kinds + `))(?:es|s)((?:\s+(?:labell?ed|named|called` +
		`|titled|for|of|with|next\s+to` +
		`|in\s+the\s+rows?\s+(?:of|with|for)))?)(?:\s*:)?\s+(.+)$`)
	pluralEnd = regexp.MustCompile(`(?i)^(?:the\s+)?(.+?)\s*(?:复选框|多选框|按钮|选项|\s(` + kinds + `)(es|s)?)$`)
	all       = regexp.MustCompile(`(?i)^(?:both(?:\s+of)?|(?:all|each)\s+of|the\s+following)(?:\s+the(?:\s+following)?)?\s*:?\s+`)
	hasPlace  = regexp.MustCompile(`(?i)\s(?:in|of|for|from|on|at|with|next\s+to|under|below|above)\s|的|or\s|\sor$|[“"]`)
)

const kinds = `check\s?box|box|radio\s+button|button|link|option|item|section|panel|tab|switch|toggle|icon|tile|card|folder|name|entry`

// several are the elements that a text names, each in the words that mean it alone. They are certain where all
// are quoted; else "Red and Blue" may be one name.
func several(text string, action Action, chooses bool) (list []string, certain bool) {
	rest := all.ReplaceAllString(text, "")
	isSaid := rest != text
	if m := plural.FindStringSubmatch(rest); m != nil && len(parts(m[3])) > 1 {
		for _, p := range parts(m[3]) {
			list = append(list, m[1]+strings.Replace(m[2], "rows", "row", 1)+" "+p)
		}
		return list, false
	}
	list = parts(rest)
	if m := pluralEnd.FindStringSubmatch(rest); m != nil && (quoted(parts(m[1])) || m[3] != "") {
		list = parts(m[1])
		isSaid = true
		for i := range list {
			if !quoted(list) {
				list[i] += " " + m[2]
			}
		}
	}
	mayBe := isSaid || len(list) > 2 || action != Click || chooses
	if len(list) < 2 || !quoted(list) && (!mayBe || !isSaid && hasPlace.MatchString(text)) {
		return nil, false
	}
	return list, quoted(list)
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
