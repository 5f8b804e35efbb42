package project

import (
	"bytes"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// Tokens estimates what a result costs a model, which reads content, or structuredContent where
// content is empty. Long texts are sampled.
func Tokens(result []byte) int {
	n, _ := Measure(result, rawjson.Span{})
	return n
}

// Measure is Tokens, and isError, in one pass: every call is measured. The longest string of the result is not read to its
// end where that is known; zero: it is not.
func Measure(result []byte, longest rawjson.Span) (tokens int, isError bool) {
	m := meter{longest: longest}
	m.result(result)
	return m.sum, m.isError
}

// CountTokens is Tokens with an exact count of each text.
func CountTokens(result []byte, count func(text string) int) int {
	m := meter{count: count}
	m.result(result)
	return m.sum
}

// Full is Tokens of the uncut result.
func (c *Cut) Full() (n int) {
	if c.result == nil {
		return Tokens(c.raw)
	}
	n = c.result.others
	structured := 0
	for _, p := range c.result.parts {
		switch {
		case p.structured:
			structured = tokens.Sampled(p.full)
		case !p.resource: // else it is among the others
			n += quotedTokens(c.raw[p.start:p.end])
		}
	}
	if n == 0 {
		return structured
	}
	return n
}

// blockTokens estimates the tokens of a content block.
func blockTokens(raw []byte) int {
	var m meter
	if block := rawjson.Object(raw); block.Err() == nil {
		m.block(&block)
	}
	return m.sum
}

// meter sums the tokens of the parts of a result.
type meter struct {
	count   func(string) int // nil: texts are estimated
	sum     int
	isError bool
	longest rawjson.Span // of the result
}

var isErrorKey = []byte(`"isError"`)

func (m *meter) result(raw []byte) {
	var structured []byte
	for w := rawjson.Object(raw); w.Step(); {
		if string(w.Key) == "content" && raw[w.Start] == '[' {
			blocks := w.Into()
			m.content(&blocks)
			w.Out(&blocks)
			if m.sum > 0 && w.Err() == nil && !bytes.Contains(raw[w.End:], isErrorKey) {
				return // what follows repeats content and is not read by the model
			}
			continue
		}
		if !w.Skip() {
			break
		}
		switch string(w.Key) {
		case "structuredContent":
			structured = w.Value
		case "isError":
			m.isError = string(w.Value) == "true"
		}
	}
	if m.sum == 0 {
		m.text(structured)
	}
}

func (m *meter) content(blocks *rawjson.Walk) {
	for blocks.Step() {
		block := blocks.Into()
		if block.Err() != nil { // no object
			blocks.Skip()
			continue
		}
		m.block(&block)
		blocks.Out(&block)
	}
}

// block adds the current block. Its type may come after its content.
func (m *meter) block(block *rawjson.Walk) {
	var kind, text, data, resource []byte
	others := 0
	for block.Step() && m.skip(block) { // the strings are most of it
		switch string(block.Key) {
		case "type":
			kind = block.Value
		case "text":
			text = block.Value
		case "data":
			data = block.Value
		case "resource":
			resource = block.Value
		case "annotations", "_meta", "mimeType":
		default:
			others += tokens.Sampled(block.Value)
		}
	}
	switch string(kind) {
	case `"text"`:
		m.quoted(text)
	case `"image"`, `"audio"`:
		m.media(kind, data)
	case `"resource"`:
		m.resource(resource)
	default: // a link
		m.sum += others
	}
}

func (m *meter) skip(block *rawjson.Walk) bool {
	if m.longest.End > 0 && block.Start == m.longest.Start {
		block.SkipTo(m.longest.End)
		return true
	}
	return block.SkipChecked()
}

// resource adds an embedded resource: its text, image or audio, and its address.
func (m *meter) resource(raw []byte) {
	var mime, blob []byte
	for w := rawjson.Object(raw); w.Next(); {
		switch string(w.Key) {
		case "text", "uri":
			m.quoted(w.Value)
		case "blob":
			blob = w.Value
		case "mimeType":
			mime = w.Value
		}
	}
	m.media(mime, blob)
}

// media adds an image or audio, given its kind or MIME type.
func (m *meter) media(kind, literal []byte) {
	if len(literal) < 2 || literal[0] != '"' {
		return
	}
	data := literal[1 : len(literal)-1]
	switch {
	case bytes.HasPrefix(kind, []byte(`"image`)):
		if head := data[:min(len(data), maxEscaped)]; bytes.IndexByte(head, '\\') >= 0 {
			data = bytes.ReplaceAll(head, []byte(`\/`), []byte("/"))
		}
		m.sum += tokens.Image(data)
	case bytes.HasPrefix(kind, []byte(`"audio`)):
		m.sum += tokens.Sound(data)
	}
}

// maxEscaped is how much of an image is searched for \/.
const maxEscaped = 64 << 10

// quoted adds the text of a JSON string.
func (m *meter) quoted(literal []byte) {
	switch {
	case len(literal) < 2 || literal[0] != '"':
	case m.count == nil:
		m.sum += quotedTokens(literal)
	default:
		m.text(quoted.AppendText(nil, literal))
	}
}

func (m *meter) text(text []byte) {
	switch {
	case len(text) == 0:
	case m.count == nil:
		m.sum += tokens.Sampled(text)
	default:
		m.sum += m.count(string(text))
	}
}
