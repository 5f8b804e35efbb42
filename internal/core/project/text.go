package project

import (
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Text is a result as plain text: its text blocks, a word for each other block, or structuredContent.
func Text(raw []byte) string {
	var parts []string
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		if text := blockText(w.Value); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return string(rawjson.Get(raw, "structuredContent"))
	}
	return strings.Join(parts, "\n")
}

// blockText is a block of content as text.
func blockText(block []byte) string {
	word := func(keys ...string) string {
		s, _ := rawjson.String(rawjson.Get(block, keys...))
		return s
	}
	switch kind := word("type"); kind {
	case "text":
		return word("text")
	case "resource_link":
		return "[" + strings.TrimSpace("link "+word("uri")+" "+word("name")) + "]"
	case "resource":
		if text := word("resource", "text"); text != "" {
			return text
		}
		return "[resource " + word("resource", "uri") + "]"
	default:
		return "[" + strings.TrimSpace(kind+" "+word("mimeType")) + "]"
	}
}

// leastBudget is the smallest budget that leaves something to read.
const leastBudget = 100

// BudgetFor is the budget in tokens for so many characters of text, or the given one if it is smaller
// (0: none).
func BudgetFor(raw []byte, chars, budget int) int {
	if len(raw) <= chars {
		return budget
	}
	text := []byte(Text(raw))
	n := utf8.RuneCount(text)
	if n <= chars {
		return budget
	}
	// A token of what is kept may have more characters than one at the start: aim below the mark.
	wanted := max(leastBudget, counted(text[:bytesOf(text, chars)])*9/10-noteTokens)
	if budget > 0 {
		return min(budget, wanted)
	}
	return wanted
}
