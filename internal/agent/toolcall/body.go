package toolcall

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func (r *Reader) inCall(c byte, out *output) {
	b := &r.body
	b.text.WriteByte(c)
	b.follow(c)
	if b.text.Len() > maxBody {
		r.add(Call{Err: fmt.Errorf("the call is longer than %d bytes", maxBody)})
		return
	}
	switch {
	case c == '>':
		r.tag(out)
	case !b.quoted && len(b.doubts) == 0 && strings.IndexByte(blanks+"<", c) >= 0 && b.endsUnclosed():
		at := b.text.Len() - len(b.closing) // the tag without its last bracket, and the byte behind it
		r.endAt(at, len(b.closing)-1, out)
	case c == '`' && b.fence && !b.quoted && strings.HasSuffix(b.text.String(), "\n"+fence):
		r.end(strings.TrimSuffix(b.text.String(), fence), byTag)
	}
}

// follow tracks whether the text ends inside a string or a parameter.
func (b *body) follow(c byte) {
	if c == '>' && !b.begun {
		b.begun = true
		b.tagged = isTagged(strip(b.text.String()))
	}
	switch {
	case b.tagged:
		b.values.take(b.text.String())
		b.quoted = b.values.depth > 0
	case b.escape:
		b.escape = false
	case b.quoted && c == '\\':
		b.escape = true
	case c == '"':
		b.quoted = !b.quoted
	}
}

// endsUnclosed tells whether the closing tag, without its bracket, is before the last byte.
func (b *body) endsUnclosed() bool {
	text := b.text.String()
	return strings.HasSuffix(text[:len(text)-1], b.closing[:len(b.closing)-1])
}

// tag decides what a tag at the end of the text means.
func (r *Reader) tag(out *output) {
	b := &r.body
	text := b.text.String()
	tag := ""
	switch {
	case strings.HasSuffix(text, b.closing):
		tag = b.closing
	case strings.HasSuffix(text, opening):
		tag = opening
	default:
		return
	}
	before := len(text) - len(tag)
	switch {
	case b.quoted: // it may be part of an argument
		b.doubts = append(b.doubts, before)
		if len(b.doubts) > maxDoubts {
			r.fallBack(out)
		}
	case len(b.doubts) > 0 && !b.whole(before): // a quote is missing somewhere
		r.fallBack(out)
	default:
		r.endAt(before, len(tag), out)
	}
}

// whole tells whether the text up to a tag is a complete call.
func (b *body) whole(before int) bool {
	if b.tagged {
		return true // its values are balanced
	}
	return json.Valid([]byte(strip(b.text.String()[:before])))
}

// fallBack takes the first doubtful tag as the end of the call and reads on after it.
func (r *Reader) fallBack(out *output) {
	at := r.body.doubts[0]
	tag := r.body.closing
	if strings.HasPrefix(r.body.text.String()[at:], opening) {
		tag = opening
	}
	r.endAt(at, len(tag), out)
}

// endAt ends a call at a tag and reads on after it.
func (r *Reader) endAt(at, size int, out *output) {
	b := r.body
	text := b.text.String()
	tag := text[at : at+size]
	rest := text[at+size:]
	if b.bare && tag != opening {
		at += size // its own tag belongs to it
		r.after = cmp.Or(r.after, closing)
	}
	r.end(text[:at], byTag)
	if tag == opening {
		r.open(mark{kind: isCall, closing: closing})
		r.body.second = true
	}
	r.feed(rest, out)
}

// finish ends a call without a closing tag.
func (r *Reader) finish(how ending) {
	text := r.body.text.String()
	closing := r.body.closing
	for n := len(closing) - 1; n > 0; n-- { // the tag itself was cut off
		if strings.HasSuffix(text, closing[:n]) {
			text = text[:len(text)-n]
			break
		}
	}
	if r.body.second && strings.TrimSpace(text) == "" {
		r.inside = false // nothing more was called
		return
	}
	r.end(text, how)
}

// ending is how a call ended.
type ending int

const (
	byTag   ending = iota // its own end
	byEnd                 // the text's end
	byLimit               // the text was cut off
)

func (r *Reader) end(text string, how ending) {
	calls := read(text, how)
	if r.Quoted != nil && r.Quoted(strip(text)) {
		for i := range calls {
			calls[i].Err = cmp.Or(calls[i].Err, ErrQuoted)
		}
	}
	r.add(calls...)
}

func (r *Reader) add(calls ...Call) {
	r.inside = false
	r.called = true
	for i := range calls {
		if r.made {
			calls[i].Err = ErrMadeUp
		}
	}
	r.calls = append(r.calls, calls...)
}

// strip removes blanks and a fence.
func strip(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, fence); ok {
		text = strings.TrimSpace(strings.TrimLeft(rest, letters))
	}
	return strings.TrimSpace(strings.TrimSuffix(text, fence))
}

var (
	errEnds = errors.New("the text ends inside the call")
	errForm = errors.New("expected an object with tool_name and arguments")
)

// read reads a call or a list of calls.
func read(text string, how ending) []Call {
	raw := strings.TrimSpace(text)
	if tagged := strip(text); isTagged(tagged) {
		return readTagged(tagged, how)
	}
	value, doubt, err := loosejson.Read(strip(text))
	if err == nil && (how == byLimit && doubt >= loosejson.Unclosed || how == byEnd && doubt == loosejson.InNumber) {
		err = errEnds
	}
	if err != nil {
		return []Call{{Err: err, Raw: raw}}
	}
	if value[0] != '[' {
		return []Call{readOne(value, raw)}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil || len(list) == 0 {
		return []Call{{Err: errForm, Raw: raw}}
	}
	calls := make([]Call, len(list))
	for i, one := range list {
		calls[i] = readOne(one, string(one))
	}
	return calls
}

// written is a call in the protocol's form and others that models use.
type written struct {
	ID         any             `json:"id"`
	ToolName   string          `json:"tool_name"`
	Name       string          `json:"name"`
	Tool       string          `json:"tool"`
	Source     string          `json:"source"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
	Args       json.RawMessage `json:"args"`
	Params     json.RawMessage `json:"params"`
	Input      json.RawMessage `json:"input"`
	Function   json.RawMessage `json:"function"` // a name, or a call of its own
}

func readOne(value json.RawMessage, raw string) Call {
	var w written
	if err := json.Unmarshal(value, &w); err != nil {
		return Call{Err: errForm, Raw: raw}
	}
	c := Call{Tool: cmp.Or(w.ToolName, w.Name, w.Tool), Source: w.Source, Args: w.args(), Raw: raw}
	if name, ok := rawjson.String(w.Function); ok {
		c.Tool = cmp.Or(c.Tool, name)
	} else if !rawjson.IsNull(w.Function) && w.ToolName == "" {
		var f written
		if err := json.Unmarshal(w.Function, &f); err != nil {
			return Call{Err: errForm, Raw: raw}
		}
		c.Tool = f.Name
		c.Args = f.args()
	}
	if w.ID != nil {
		c.ID = fmt.Sprint(w.ID)
	}
	if c.Tool == "" {
		c.Err = errors.New("the call has no tool_name")
	}
	return c
}

// args returns the arguments, whatever their name; nil if there are none.
func (w *written) args() json.RawMessage {
	for _, args := range []json.RawMessage{w.Arguments, w.Parameters, w.Args, w.Params, w.Input} {
		if args != nil {
			return args
		}
	}
	return nil
}
