package columns

import (
	"slices"
	"strings"
	"unicode"
)

// words are the words of a member's name, in small letters: html_url, htmlUrl and HTML-URL are the
// same.
func words(name string) (list []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			list = append(list, b.String())
			b.Reset()
		}
	}
	last := rune(0)
	letters := []rune(name)
	for i, r := range letters {
		hump := unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if hump || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	end()
	return list
}

// What names are made of. Values decide where they can; these words choose among what is left.
var (
	// naming are the last words of columns that identify, or that people and later calls refer to.
	naming = []string{
		"id", "ids", "iid", "key", "name", "title", "number", "no", "code", "login", "username", "user", "email", "mail", "slug",
		"path", "file", "filename", "ref", "label", "state", "status", "type", "kind", "date", "time", "timestamp", "at", "on",
		"created", "updated", "due", "start", "end", "version", "tag", "branch", "subject", "summary", "symbol", "handle", "address",
		"phone", "author", "owner", "assignee", "priority", "role", "amount", "price", "total", "count", "value", "message", "error",
		"编号", "名称", "标题", "状态", "类型", "时间", "日期",
	}
	// second are the first words of IDs that an object has beside its own.
	second = []string{"node", "global", "graph", "graphql", "relay", "internal", "unique", "g"}
	// opened are words of addresses that are meant for people.
	opened = []string{"html", "web", "permalink", "perma", "public", "canonical", "browser", "page", "share"}
	// leading are words of what leads to the next page.
	leading = []string{"next", "cursor", "token", "continuation", "more", "offset"}
	// owning are names by which an object is known, the best first.
	owning = [][]string{
		{"number", "key", "iid", "no", "编号"},
		{"name", "login", "path", "title", "subject", "summary", "file", "filename", "名称", "标题"},
		{"id"}, nil, // nil: an ID by a longer name
		{"slug", "code", "ref", "username", "email", "symbol"},
		{"uuid", "guid", "sha", "hash", "digest", "uri"},
	}
)

// names reports whether a column of these words identifies something.
func names(words []string) bool {
	return len(words) > 0 && slices.Contains(naming, words[len(words)-1]) && !isSecond(words)
}

// isReference reports whether the words are those of an ID that leads to something else.
func isReference(words []string) bool {
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return (last == "id" || last == "ids" || last == "key") && !isSecond(words)
}

// isID reports whether the words are those of an ID or a number, and not of a name.
func isID(words []string) bool {
	return isReference(words) || len(words) == 1 && slices.Contains([]string{"number", "iid", "no", "uuid", "guid", "编号"}, words[0])
}

// leadsOn reports whether a value of these words leads to more of a list.
func leadsOn(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(leading, w) })
}

func isSecond(words []string) bool {
	return len(words) > 1 && words[len(words)-1] == "id" && slices.Contains(second, words[0])
}

// ownRank is how well a column of these words names the object that it stands in; -1: not at all.
func ownRank(words []string) int {
	if len(words) == 0 {
		return -1
	}
	for rank, list := range owning {
		switch {
		case list == nil && len(words) > 1 && isReference(words), len(words) == 1 && slices.Contains(list, words[0]):
			return rank
		}
	}
	if last := words[len(words)-1]; last == "name" || last == "title" || last == "number" || last == "label" {
		return len(owning)
	}
	return -1
}

// pageRank orders URLs by their names: the lower, the more likely a person opens it.
func pageRank(words []string) int {
	switch {
	case slices.ContainsFunc(words, func(w string) bool { return slices.Contains(opened, w) }):
		return 0
	case len(words) == 1:
		return 1
	}
	return 2
}

// Weight orders the columns of a row, given as names with dots between them: what identifies the row
// comes first, then what people and later calls refer to.
func Weight(path string) int {
	list := words(path[strings.LastIndexByte(path, '.')+1:])
	depth := strings.Count(path, ".")
	rank := ownRank(list)
	switch {
	case rank >= 0 && depth == 0:
		return 2 * rank
	case names(list):
		return 100 + depth
	}
	return 200 + depth
}
