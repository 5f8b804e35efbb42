package toolcall

import (
	"encoding/json"
	"strings"
)

// Untagged finds a call at the end of a text that lacks its tags, alone or in a fence. Only
// its words say that it is one, so it is better asked about than made.
//
//	c, ok := toolcall.Untagged("Let me look.\n```json\n{\"tool_name\":\"read\",\"arguments\":{}}\n```")
func Untagged(text string) (Call, bool) {
	text = strings.TrimSpace(text)
	at := strings.LastIndex("\n"+text, "\n{")
	if inside, ok := strings.CutSuffix(text, fence); ok {
		if at = strings.LastIndex(inside, fence); at >= 0 {
			text = strings.TrimSpace(strings.TrimLeft(inside[at+len(fence):], letters))
			at = 0
		}
	}
	if at < 0 || !json.Valid([]byte(text[at:])) {
		return Call{}, false
	}
	c := readOne(json.RawMessage(text[at:]), text[at:])
	return c, c.Err == nil && len(c.Args) > 0 && c.Args[0] == '{'
}
