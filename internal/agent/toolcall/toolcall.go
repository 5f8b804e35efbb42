// Package toolcall reads the calls that a model without function calling writes into its
// text, while the text still comes in:
//
//	Let me look. <tool_call>{"id":"call_001","tool_name":"read","arguments":{"path":"a.txt"}}</tool_call>
//
// Models fence it, forget brackets, commas and the closing tag, and their text arrives in
// pieces cut anywhere. What is found does not depend on the pieces. A call that cannot be
// read is never dropped: it comes out with the reason, for the model to correct. Nothing is
// made up: a text that ends inside a string or in the middle of a number is no call. What a
// model thinks aloud, between <think> and </think>, is told apart from what it says, and a
// call in its thoughts from those that it makes.
//
// It never runs a call, and never looks whether there is such a tool.
//
//	var r toolcall.Reader
//	for piece := range stream {
//		show(r.Write(piece).Text)
//	}
//	show(r.Close(false).Text)
//	run(r.Calls())
package toolcall

import (
	"encoding/json"
	"strings"
)

// Call is one call as the model wrote it.
type Call struct {
	ID     string          // "": it gave none
	Tool   string          // "" with an Err
	Source string          // the server that the model means; "": it named none
	Args   json.RawMessage // an object, or whatever the model wrote in its place; nil: none
	Err    error           // why it cannot be read; nil when it can
	Raw    string          // what stood between the tags, or its own part of a list there
}

const (
	opening = "<tool_call>"
	closing = "</tool_call>"
	fence   = "```"

	// maxBody bounds what is held of one call.
	maxBody = 4 << 20
	// maxDoubts bounds how many closing tags are taken for part of a text in quotes.
	maxDoubts = 32
)

// Reader takes the text apart. The zero value is ready.
type Reader struct {
	Uncalled bool // calls come another way: in the text they are text

	held    string // text that may be the beginning of something else
	inside  bool   // a call is open
	fenced  bool   // a fence around calls was opened, and not shown
	body    body
	calls   []Call
	thought thought
}

// Said is what has become of a text.
type Said struct {
	Text    string // none of a call's
	Thought string
	Unsaid  bool // all text before this was thought too: only its end was marked
}

// body is what has come of an open call.
type body struct {
	text   strings.Builder
	fence  bool  // a fence ends it in place of the tag
	quoted bool  // the end is inside a string
	escape bool  // and behind a backslash
	second bool  // the tag that opened it also ended another: it may have been meant to close
	doubts []int // where tags stood in strings: one of them may be the end after all
}

// Write takes the next piece.
func (r *Reader) Write(piece string) Said {
	var out output
	r.feed(piece, &out)
	return out.said()
}

// Calls are those found since the last time.
func (r *Reader) Calls() []Call {
	found := r.calls
	r.calls = nil
	return found
}

// Close ends the text and returns the rest of it. A text that was cut off by the model's
// limit may lack the end of its last call: nothing is put in its place.
func (r *Reader) Close(cutOff bool) Said {
	how := byEnd
	if cutOff {
		how = byLimit
	}
	var out output
	r.endThought(&out)
	for r.inside {
		if len(r.body.doubts) > 0 {
			r.fallBack(&out)
			continue
		}
		r.finish(how)
	}
	r.show(r.held, &out)
	r.held = ""
	return out.said()
}

// feed goes through a piece byte by byte, so that it does not matter where pieces end.
func (r *Reader) feed(piece string, out *output) {
	for i := 0; i < len(piece); i++ {
		switch {
		case r.inside:
			r.inCall(piece[i], out)
			continue
		case r.thought.closing != "":
			i += r.inThought(piece[i:], out) - 1
			continue
		}
		if r.held == "" && !r.fenced { // text without a mark is taken at once
			next := mark(piece[i:])
			r.show(piece[i:i+next], out)
			if i += next; i == len(piece) {
				return
			}
		}
		r.held += piece[i : i+1]
		if r.fenced && r.afterCall() {
			continue
		}
		r.inText(out)
	}
}

const blanks = " \t\r\n"

// mark is where something other than text may begin.
func mark(text string) int {
	if at := strings.IndexAny(text, "<`"); at >= 0 {
		return at
	}
	return len(text)
}

// afterCall looks for the end of the fence around a call, which is not shown; false when
// something else comes.
func (r *Reader) afterCall() bool {
	rest := strings.TrimLeft(r.held, blanks)
	switch {
	case rest == fence:
		r.held, r.fenced = "", false
		return true
	case strings.HasPrefix(fence, rest) && len(r.held) < maxFence:
		return true
	case !strings.HasPrefix(opening, rest):
		r.fenced = false
	}
	return false
}

// inText decides about held text, whose last byte is new.
func (r *Reader) inText(out *output) {
	for r.held != "" {
		next := mark(r.held)
		r.show(r.held[:next], out)
		if r.held = r.held[next:]; r.held == "" {
			return
		}
		kind, n := r.look(r.held)
		tag, rest := r.held[:n], r.held[n:]
		switch kind {
		case mayBecome:
			return
		case isText:
			r.show(tag, out)
			r.held = rest
			continue
		case isThought:
			r.held = ""
			r.think(tag)
		case endsThought:
			r.held = ""
			r.unsay(out)
		default:
			r.fenced = r.fenced || kind == isCall && tag[0] == '`'
			r.open(kind == isFence)
		}
		r.feed(rest, out)
		return
	}
}

func (r *Reader) open(fence bool) {
	r.held, r.inside, r.body = "", true, body{fence: fence}
}

type kind int

const (
	isText kind = iota
	mayBecome
	isCall  // the opening tag, maybe behind the beginning of a fence
	isFence // a fence that says itself that a call is in it
	isThought
	endsThought // without a beginning
)

// maxFence bounds the blanks and words of a fence before a call.
const maxFence = 64

// look tells what a text is that begins with a mark, and how many bytes of it are that.
func (r *Reader) look(text string) (kind, int) {
	calls, calling := isText, 1
	if !r.Uncalled {
		calls, calling = lookCall(text)
	}
	if calls != isText || text[0] != '<' {
		return calls, calling
	}
	return r.thought.look(text)
}

// lookCall looks for a call.
func lookCall(text string) (kind, int) {
	rest := text
	if text[0] == '`' {
		if n := len(text); n < len(fence) && text == fence[:n] {
			return mayBecome, 0
		}
		if !strings.HasPrefix(text, fence) {
			return lookQuoted(text)
		}
		rest = strings.TrimLeft(text[len(fence):], letters)
		if word := text[len(fence) : len(text)-len(rest)]; word == "tool_call" && strings.HasPrefix(rest, "\n") {
			return isFence, len(text) - len(rest) + 1
		}
		rest = strings.TrimLeft(rest, blanks)
	}
	kind, n := lookTag(rest)
	if kind == mayBecome && len(text) >= maxFence {
		kind = isText
	}
	if kind != isCall {
		return kind, 1
	}
	return isCall, len(text) - len(rest) + n
}

// lookTag looks for the opening tag, which may lack its last bracket before that of an object.
func lookTag(text string) (kind, int) {
	after, ok := strings.CutPrefix(text, opening[:len(opening)-1])
	object := strings.TrimLeft(after, blanks)
	switch {
	case ok && strings.HasPrefix(after, ">"):
		return isCall, len(opening)
	case ok && strings.HasPrefix(object, "{"):
		return isCall, len(text) - len(object)
	case ok && object == "", strings.HasPrefix(opening, text):
		return mayBecome, 1
	}
	return isText, 1
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// lookQuoted looks at a text behind one backquote: a tag that stands in quotes is only
// spoken of.
func lookQuoted(text string) (kind, int) {
	const spoken = "`" + opening + "`"
	switch {
	case text == spoken:
		return isText, len(text)
	case strings.HasPrefix(spoken, text):
		return mayBecome, 0
	}
	return isText, 1
}
