package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// maxMessage limits the error message taken from a body; the body itself follows.
const maxMessage = 1 << 10

// toolError turns a response into a tool error: one sentence, then the body unchanged.
func (a *answer) toolError() json.RawMessage {
	text := a.statusLine()
	message := ""
	switch a.kind {
	case jsonMedia:
		message = messageOf([]byte(a.text), 0)
	case textMedia:
		message = plainMessage(a.text)
	}
	message = short(strings.TrimSpace(message), maxMessage)
	if message != "" {
		text += ": " + message
	} else if location := a.header.Get("Location"); location != "" {
		text += ": " + location
	}
	dst := appendText([]byte(`{"content":[`), text)
	if a.kind != 0 && a.text != message {
		dst = a.content(append(dst, ','))
	}
	return append(a.meta(append(dst, `],"isError":true`...)), '}')
}

// short truncates a text to about most bytes.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// messageNames are the names of the error message in common APIs, best first.
var messageNames = []string{
	"detail", "message", "error_description", "errormessage", "error_message", "msg", "description",
	"reason", "title", "error", "errors", "fault", "faultstring",
	"details", "status_message", "code",
}

// messageOf finds the message in a JSON body: problem details, error.message, errors[], …
func messageOf(raw []byte, depth int) string {
	const most = 4
	if len(raw) == 0 || depth > most {
		return ""
	}
	switch raw[0] {
	case '"':
		s, _ := rawjson.String(raw)
		return s
	case '[':
		return listMessage(raw, depth)
	case '{':
		return objectMessage(raw, depth)
	}
	return ""
}

func listMessage(raw []byte, depth int) string {
	const most = 5
	var list []string
	for w := rawjson.Array(raw); w.Next() && len(list) < most; {
		if s := messageOf(w.Value, depth+1); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, "; ")
}

func objectMessage(raw []byte, depth int) string {
	found := make([]string, len(messageNames))
	var at string
	for w := rawjson.Object(raw); w.Next(); {
		key := strings.ToLower(string(w.Key))
		if i := slices.Index(messageNames, key); i >= 0 && found[i] == "" {
			found[i] = messageOf(w.Value, depth+1)
		}
		if key == "loc" || key == "field" || key == "path" || key == "param" || key == "pointer" || key == "source" {
			at = where(w.Value)
		}
	}
	i := slices.IndexFunc(found, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	text := found[i]
	if title := found[slices.Index(messageNames, "title")]; title != "" && messageNames[i] == "detail" && title != text {
		text = title + ": " + text
	}
	if at != "" && depth > 0 {
		text = at + ": " + text
	}
	return text
}

// where returns the place that an error refers to, as text.
func where(raw []byte) string {
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	if len(raw) > 0 && raw[0] == '{' {
		s, _ := rawjson.String(rawjson.Get(raw, "pointer"))
		return s
	}
	var parts []string
	for w := rawjson.Array(raw); w.Next() && len(parts) < 8; {
		s, ok := rawjson.String(w.Value)
		if !ok {
			s = string(w.Value)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ".")
}

// plainMessage returns the title of an HTML page, or a text if it is short.
func plainMessage(text string) string {
	start := text[:min(len(text), 4<<10)]
	lower := strings.ToLower(start)
	if i := strings.Index(lower, "<title"); i >= 0 && len(lower) == len(start) {
		_, rest, _ := strings.Cut(text[i:], ">")
		title, _, _ := strings.Cut(rest, "<")
		return title
	}
	if len(text) <= maxMessage && !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return text
	}
	return ""
}
