package toolcall

import (
	"encoding/json"
	"strings"
)

// AtEnd finds calls at the end of what a model said in place of calling: in tags, where they
// come another way, or without any, alone or in a fence. Only their words say that they are
// calls, so they are better asked about than made.
//
//	calls := toolcall.AtEnd("Let me look.\n```json\n{\"tool_name\":\"read\",\"arguments\":{}}\n```")
func AtEnd(text string) []Call {
	text = strings.TrimSpace(text)
	if c, ok := untagged(text); ok {
		return []Call{c}
	}
	if !endsCall(text) {
		return nil
	}
	var r Reader
	r.Write(text)
	r.Close(false)
	return r.Calls()
}

func endsCall(text string) bool {
	ends := strings.HasSuffix(text, closing)
	for _, tags := range heads {
		ends = ends || strings.HasSuffix(text, tags.closing)
	}
	for _, tags := range wrappers {
		ends = ends || strings.HasSuffix(text, tags.closing)
	}
	return ends
}

// untagged reads a call without tags.
func untagged(text string) (Call, bool) {
	at := strings.LastIndex("\n"+text, "\n{")
	if inside, ok := strings.CutSuffix(text, fence); ok {
		at = strings.LastIndex(inside, fence)
		if at >= 0 {
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
