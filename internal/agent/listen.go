package agent

import (
	"strings"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/state/config"
)

// listener splits a reply while it streams in: text and thoughts are passed on at once, calls are
// collected.
type listener struct {
	*chat
	texts    toolcall.Reader
	thoughts toolcall.Reader // for the calls in them
	thinking bool            // there were some in this reply
	said     strings.Builder
	before   string // the answer so far
	pondered string // the thoughts so far
}

func (c *chat) listen() *listener {
	l := &listener{chat: c, before: c.text.String(), pondered: c.thought.String()}
	l.texts.Uncalled = c.model.Tools != config.TextTools
	l.texts.Quoted = c.quotes()
	l.thoughts.Uncalled = l.texts.Uncalled
	_, l.texts.Thinking = c.endsThoughts.Load(c.model.Name)
	return l
}

func (l *listener) take(p conversation.Piece) {
	l.think(p.Thought)
	if p.Thought != "" { // then the text has none
		l.texts.Thinking = false
	}
	l.show(l.texts.Write(p.Text))
}

// end completes the reply.
func (l *listener) end(r *reply, cutOff bool) {
	l.show(l.texts.Close(cutOff))
	l.thoughts.Close(cutOff)
	r.text = l.said.String()
	r.inText = l.texts.Calls()
	r.inThought = l.thoughts.Calls()
}

func (l *listener) think(text string) {
	if text == "" {
		return
	}
	l.thoughts.Write(text)
	if !l.thinking && l.thought.Len() > 0 { // as in show
		text = "\n\n" + text
	}
	l.thinking = true
	l.thought.WriteString(text)
	l.hear(Event{Reasoning: text})
}

func (l *listener) show(s toolcall.Said) {
	if s.Unsaid { // a stream cannot take it back, but the answer can, and the next one is heard rightly
		l.said.Reset()
		l.text.Reset()
		l.text.WriteString(l.before)
		l.endsThoughts.Store(l.model.Name, true)
	}
	if s.Unthought {
		l.thoughts = toolcall.Reader{Uncalled: l.thoughts.Uncalled}
		l.thinking = false
		l.thought.Reset()
		l.thought.WriteString(l.pondered)
		l.endsThoughts.Delete(l.model.Name)
	}
	l.think(s.Thought)
	if s.Text == "" {
		return
	}
	shown := s.Text
	if l.said.Len() == 0 && l.text.Len() > 0 { // rounds are paragraphs
		shown = "\n\n" + shown
	}
	l.said.WriteString(s.Text)
	l.text.WriteString(shown)
	l.hear(Event{Text: shown})
}
