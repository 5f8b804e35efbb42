package toolcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// AtEnd finds calls at the end of what a model said in place of calling: in tags, where they
// come another way, or without any, on lines of their own or in a fence, as JSON or as Python
// writes calls. Only their words say that they are calls, so they are better asked about than made.
//
//	calls := toolcall.AtEnd("Let me look.\n```json\n{\"tool_name\":\"read\",\"arguments\":{}}\n```")
func AtEnd(text string) []Call {
	text = strings.TrimSpace(text)
	if calls := untagged(text); calls != nil {
		return calls
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

// maxStarts limits how many lines are tried as the first of the calls.
const maxStarts = 16

// untagged reads calls without tags: a block of code, or whole lines.
func untagged(text string) []Call {
	if inside, ok := strings.CutSuffix(text, fence); ok {
		at := strings.LastIndex(inside, fence)
		if at < 0 {
			return nil
		}
		inside = inside[at+len(fence):]
		if rest := strings.TrimLeft(inside, letters); rest != "" && strings.IndexByte(blanks+"{[", rest[0]) >= 0 {
			inside = rest // without the language
		}
		return readBare(strings.TrimSpace(inside))
	}
	var starts []int
	for end := len(text); end > 0 && len(starts) < maxStarts; {
		at := strings.LastIndexByte(text[:end], '\n') + 1
		if mayBegin(text[at:end]) {
			starts = append(starts, at)
		}
		end = at - 1
	}
	for _, at := range slices.Backward(starts) {
		if calls := readBare(text[at:]); calls != nil {
			return calls
		}
	}
	return nil
}

// mayBegin tells whether a call may begin with the line.
func mayBegin(line string) bool {
	_, _, ok := loosejson.FunctionName(line)
	return ok || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[")
}

// readBare reads a text of nothing but calls; nil if it is none.
func readBare(text string) []Call {
	var calls []Call
	for rest := text; rest != ""; {
		value, after, err := loosejson.First(rest)
		if err != nil || value[0] != '{' && value[0] != '[' {
			return readPython(text)
		}
		found := inObject(value, rest[:len(rest)-len(after)])
		if found == nil {
			return nil
		}
		calls = append(calls, found...)
		rest = strings.TrimLeft(after, blanks+",;")
	}
	return calls
}

// inObject reads a call, a list of calls, or an object with one as some APIs write it; nil if a part is
// no call.
func inObject(value json.RawMessage, raw string) (calls []Call) {
	list := []json.RawMessage{value}
	if inside := rawjson.Get(value, "tool_calls"); inside != nil {
		value = inside
	}
	if value[0] == '[' {
		list = nil
		for w := rawjson.Array(value); w.Next(); {
			list = append(list, w.Value)
		}
	}
	for _, one := range list {
		c := readOne(one, raw)
		args := c.Args
		if text, ok := rawjson.String(args); ok {
			args, _, _ = loosejson.Read(text)
		}
		if c.Err != nil || len(args) == 0 || args[0] != '{' {
			return nil
		}
		calls = append(calls, c)
	}
	return calls
}
