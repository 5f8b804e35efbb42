package console

import (
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

const (
	// maxTurns is how many messages a page shows.
	maxTurns = 200
	// maxFold is how many bytes of a call's arguments and result are shown; the record has all.
	maxFold = 8000
)

// turn is what a person said, or what an agent said and called.
type turn struct {
	Person bool
	Name   string // of the agent
	At     time.Time
	Parts  []turnPart

	Timeline string // the address of its calls on an axis of time; "": it made less than two
}

type turnPart struct {
	Text    string
	Stopped string // why the text is incomplete
	Call    *turnCall
}

// turnCall is a call by an agent and its outcome.
type turnCall struct {
	id        string
	Tool      string
	Status    conversation.Status
	Took      time.Duration
	Record    string // id of its record
	Arguments block
	Result    block
}

// lost is the status of a call whose outcome was not stored.
const lost conversation.Status = "lost"

// turnsOf reads a transcript and skips what is not a chat message.
func turnsOf(lang locale.Language, list []restapi.TranscriptMessage) (turns []turn) {
	for _, row := range list {
		var m conversation.Message
		if json.Unmarshal(row.Message, &m) != nil {
			continue
		}
		switch {
		case m.Role == "user":
			turns = append(turns, turn{Person: true, At: row.At, Parts: []turnPart{{Text: m.Text()}}})
		case m.Role == "assistant":
			if n := len(turns); n == 0 || turns[n-1].Person {
				turns = append(turns, turn{At: row.At})
			}
			turns[len(turns)-1].say(lang, &m)
		case m.Role == "tool" && len(turns) > 0:
			turns[len(turns)-1].answer(lang, &m)
		}
	}
	return turns
}

// say adds what an agent said and the calls that it made.
func (t *turn) say(lang locale.Language, m *conversation.Message) {
	var stopped string
	if m.Note != nil {
		t.Name = m.Note.Agent
		stopped = m.Note.Stopped
	}
	if text := m.Text(); text != "" || stopped != "" {
		t.Parts = append(t.Parts, turnPart{Text: text, Stopped: stopped})
	}
	for _, c := range m.Calls {
		t.Parts = append(t.Parts, turnPart{Call: &turnCall{
			id: c.ID, Tool: c.Tool, Status: lost, Arguments: codeUpTo(text(lang, "chat.arguments"), []byte(c.Arguments), maxFold),
		}})
	}
}

// answer adds the result of a call. Ids may repeat in later rounds, so it belongs to the first
// call that has none.
func (t *turn) answer(lang locale.Language, m *conversation.Message) {
	for _, p := range t.Parts {
		if p.Call == nil || p.Call.id != m.CallID || p.Call.Status != lost {
			continue
		}
		p.Call.Result = codeUpTo(text(lang, "chat.result"), []byte(m.Text()), maxFold)
		p.Call.Status = conversation.Success
		if m.Note != nil {
			p.Call.Status = m.Note.Status
			p.Call.Record = m.Note.Call
			p.Call.Took = time.Duration(m.Note.DurationMS) * time.Millisecond
		}
		return
	}
}
