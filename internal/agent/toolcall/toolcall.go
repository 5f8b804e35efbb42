// Package toolcall reads the calls that a model without function calling writes into its
// text, while the text still comes in:
//
//	Let me look. <tool_call>{"id":"call_001","tool_name":"read","arguments":{"path":"a.txt"}}</tool_call>
//
// Models fence it, forget brackets, commas and the closing tag, write tags in place of JSON
// as they were once taught, and their text arrives in pieces cut anywhere. What is found does
// not depend on the pieces. A call that cannot be read is never dropped: it comes out with
// the reason, for the model to correct. Nothing is made up: a text that ends inside a string
// or in the middle of a number is no call, and what a model writes behind a result that it
// made up itself is neither said nor called. What a model thinks aloud, between <think> and
// </think>, is told apart from what it says, and a call in its thoughts from those that it
// makes.
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
	"errors"
	"strings"
)

// Call is a call as the model wrote it.
type Call struct {
	ID     string          // "": none
	Tool   string          // "" with an Err
	Source string          // the server that the model named; "": none
	Args   json.RawMessage // an object, or whatever the model wrote instead; may be nil
	Err    error           // why it cannot be read; nil when it can
	Raw    string          // what stood between the tags, or its own part of a list there

	Positional []json.RawMessage // values without a name, which come before Args; only the tool's schema can name them
}

const (
	opening = "<tool_call>"
	closing = "</tool_call>"
	fence   = "```"

	// maxBody limits the size of a call.
	maxBody = 4 << 20
	// maxDoubts limits how many closing tags are taken as part of a string.
	maxDoubts = 32
)

// Reader splits the text. The zero value is ready.
type Reader struct {
	Uncalled bool // calls come another way: in the text they are text
	Thinking bool // the model is known to begin with a thought, and to mark its end alone

	// Quoted tells whether a call was copied from what the model was given; it then has ErrQuoted.
	// nil: none was.
	Quoted func(text string) bool

	held    string // text that may be the beginning of something else
	inside  bool   // a call is open
	after   string // what ends something around calls that was not shown: it is not shown either
	body    body
	calls   []Call
	called  bool // there was a call
	made    bool // the model goes on with a result that it made up
	thought thought
}

// ErrMadeUp rejects a call after a result that the model made up instead of waiting for it.
var ErrMadeUp = errors.New("it stands behind a result that you made up")

// ErrQuoted rejects a call that the model only repeats.
var ErrQuoted = errors.New("it is copied from a tool's result or description")

// Said is what a piece of text yields.
type Said struct {
	Text      string // none of a call's
	Thought   string
	Unsaid    bool // all text before this was thought too: only its end was marked
	Unthought bool // all thought before this was said, and is in Text: its end was not marked after all
}

// body is the state of an open call.
type body struct {
	text    strings.Builder
	closing string // the tag that ends it
	bare    bool   // it has no tags around it but its own, which belong to it
	fence   bool   // a fence ends it in place of the tag
	quoted  bool   // the end is inside a string, or in the value of a parameter
	escape  bool   // and behind a backslash
	second  bool   // the tag that opened it also ended another: it may have been meant to close
	doubts  []int  // where tags stood in strings: one of them may be the end after all

	begun  bool    // there was a tag, which tells how the call is written
	tagged bool    // in tags: the values of parameters stand for strings
	values nesting // then
}

// Write reads the next piece.
func (r *Reader) Write(piece string) Said {
	var out output
	r.feed(piece, &out)
	return out.result()
}

// Calls returns the calls found since the last time.
func (r *Reader) Calls() []Call {
	found := r.calls
	r.calls = nil
	return found
}

// Close ends the text and returns the rest of it. A truncated text may lack the end of its last
// call, which is then an error.
func (r *Reader) Close(cutOff bool) Said {
	how := byEnd
	if cutOff {
		how = byLimit
	}
	var out output
	r.endThought(&out, cutOff)
	for r.inside {
		if len(r.body.doubts) > 0 {
			r.fallBack(&out)
			continue
		}
		r.finish(how)
	}
	r.show(r.held, &out)
	r.held = ""
	return out.result()
}

// feed reads byte by byte, so that it does not matter where pieces end.
func (r *Reader) feed(piece string, out *output) {
	for i := 0; i < len(piece); i++ {
		if r.Thinking {
			r.Thinking = false
			r.thought.guess(piece[i])
		}
		switch {
		case r.inside:
			r.inCall(piece[i], out)
			continue
		case r.thought.closing != "":
			i += r.inThought(piece[i:], out) - 1
			continue
		}
		if r.held == "" && r.after == "" { // text without a mark is taken at once
			next := plain(piece[i:])
			r.show(piece[i:i+next], out)
			i += next
			if i == len(piece) {
				return
			}
		}
		r.held += piece[i : i+1]
		if r.after != "" && r.afterCall() {
			continue
		}
		r.inText(out)
	}
}

const blanks = " \t\r\n"

// plain returns the length of the text before the first mark.
func plain(text string) int {
	if at := strings.IndexAny(text, marks); at >= 0 {
		return at
	}
	return len(text)
}

// afterCall skips the end of what surrounds calls, such as a fence; false if something else comes.
func (r *Reader) afterCall() bool {
	rest := strings.TrimLeft(r.held, blanks)
	switch {
	case rest == r.after:
		r.held = ""
		r.after = ""
		return true
	case strings.HasPrefix(r.after, rest) && len(r.held) < maxFence:
		return true
	case !strings.HasPrefix(rest, "<"): // no other call
		r.after = ""
	}
	return false
}

// inText decides about the held text.
func (r *Reader) inText(out *output) {
	for r.held != "" {
		next := plain(r.held)
		r.show(r.held[:next], out)
		r.held = r.held[next:]
		if r.held == "" {
			return
		}
		m := r.look(r.held)
		tag := r.held[:m.size]
		rest := r.held[m.size:]
		switch m.kind {
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
		case isResult:
			r.held = ""
			r.made = true
		default:
			if strings.HasPrefix(tag, fence) && m.kind != isFence {
				r.after = fence
			}
			r.open(m)
		}
		r.feed(rest, out)
		return
	}
}

func (r *Reader) open(m mark) {
	r.held = ""
	r.inside = true
	r.body = body{closing: m.closing, bare: m.kind == isBare, fence: m.kind == isFence}
}
