package toolcall

import "strings"

// thoughts are the tags around thoughts.
var thoughts = []struct{ opening, closing string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
}

// thought is the state of thoughts and of the text around them.
type thought struct {
	opening string // of the open one
	closing string // of the open one; "": none is open
	aside   bool   // something was said before it: whether it is one, its end tells
	off     bool   // tags are text from here on
	any     bool   // there was one
	text    strings.Builder
	guessed bool            // the open one is assumed from what is known about the model
	all     strings.Builder // then: what came of it

	said  bool // something other than blanks was shown
	inner bool // the line has something other than blanks
	ticks int  // backquotes at the end of what was shown
	code  bool // it ends inside a block of code
}

// look tells what a text is that begins with "<".
func (t *thought) look(text string) (kind, int) {
	if t.off || t.spoken() {
		return isText, 1
	}
	for _, tags := range thoughts {
		switch {
		case text == tags.opening:
			return isThought, len(text)
		case text == tags.closing && !t.inner:
			return endsThought, len(text)
		case strings.HasPrefix(tags.opening, text), strings.HasPrefix(tags.closing, text) && !t.inner:
			return mayBecome, 0
		}
	}
	return isText, 1
}

// spoken tells whether the next tag is quoted.
func (t *thought) spoken() bool { return t.code || t.ticks > 0 }

// output collects what a piece yields.
type output struct {
	text, thought     strings.Builder
	unsaid, unthought bool
}

func (o *output) result() Said {
	return Said{o.text.String(), o.thought.String(), o.unsaid, o.unthought}
}

// show passes on text, except after a made-up result, and without blanks between thoughts and text.
func (r *Reader) show(text string, out *output) {
	t := &r.thought
	if t.any && !t.said {
		text = strings.TrimLeft(text, blanks)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '`':
			t.ticks++
			if t.ticks == len(fence) {
				t.code = !t.code
			}
			t.inner = true
			t.said = true
			continue
		case c == '\n':
			t.inner = false
		case strings.IndexByte(blanks, c) < 0:
			t.inner = true
			t.said = true
		}
		t.ticks = 0
	}
	if !r.made {
		out.text.WriteString(text)
	}
}

func (r *Reader) think(opening string) {
	t := &r.thought
	t.opening = opening
	t.closing = "</" + opening[1:]
	t.aside = t.said
	t.text.Reset()
}

// guess begins a thought without a tag.
func (t *thought) guess(first byte) {
	if first != '<' {
		t.closing = thoughts[0].closing
		t.guessed = true
	}
}

// inThought reads a part of an open thought and returns its length.
func (r *Reader) inThought(text string, out *output) int {
	n := r.takeThought(text, out)
	if t := &r.thought; t.closing == "" {
		t.guessed = false
		t.all.Reset()
	} else if t.guessed {
		t.all.WriteString(text[:n])
		if text[n-1] == '>' && strings.HasSuffix(t.all.String(), thoughts[0].opening) {
			r.unthink(out) // it marks the beginning too
		}
	}
	return n
}

// unthink turns a guessed thought into text.
func (r *Reader) unthink(out *output) {
	t := &r.thought
	text := t.all.String()
	t.closing = ""
	t.guessed = false
	t.text.Reset()
	t.all.Reset()
	out.thought.Reset()
	out.unthought = true
	r.feed(text, out)
}

func (r *Reader) takeThought(text string, out *output) int {
	t := &r.thought
	if t.text.Len() == 0 && !t.aside { // text without a tag is passed on at once
		n := strings.IndexByte(text, '<')
		if n < 0 {
			n = len(text)
		}
		if at := strings.IndexByte(text[:n], '>'); at >= 0 {
			n = at + 1 // a tag may end here
		}
		if n > 0 {
			out.thought.WriteString(text[:n])
			return n
		}
	}
	t.text.WriteByte(text[0])
	held := t.text.String()
	switch {
	case strings.HasSuffix(held, t.closing):
		out.thought.WriteString(strings.TrimSuffix(held, t.closing))
		t.closing = ""
		t.any = true
	case !t.aside && !strings.HasPrefix(t.closing, held):
		t.text.Reset()
		rest := strings.TrimSuffix(held, "<") // another tag may begin
		out.thought.WriteString(rest)
		t.text.WriteString(held[len(rest):])
	}
	return 1
}

// endThought ends an unterminated thought. One in the middle of text was only a quoted tag; a
// guessed one is text, unless the reply was truncated.
func (r *Reader) endThought(out *output, cutOff bool) {
	t := &r.thought
	if t.closing == "" {
		return
	}
	text := t.text.String()
	if t.guessed && !cutOff {
		r.unthink(out)
		r.endThought(out, cutOff) // a marked one may be open now
		return
	}
	t.closing = ""
	if !t.aside {
		out.thought.WriteString(text)
		return
	}
	t.off = true
	r.show(t.opening, out)
	r.feed(text, out)
}

// unsay turns all text so far into thought: some models mark only the end of a thought.
func (r *Reader) unsay(out *output) {
	t := &r.thought
	if t.any { // an end too many
		return
	}
	t.any = true
	t.said = false
	out.thought.WriteString(out.text.String())
	out.text.Reset()
	out.unsaid = true
	for _, c := range r.calls {
		out.thought.WriteString(opening + c.Raw + closing)
	}
	r.calls = nil
	r.called = false
	r.made = false
}
