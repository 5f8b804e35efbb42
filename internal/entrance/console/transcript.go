package console

import (
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

const (
	// maxTurns is how many messages one page shows of a transcript.
	maxTurns = 200
	// maxFold bounds what is shown of the arguments and the result of one call; its record
	// has all of it.
	maxFold = 8000
)

// turn is what one side said: a person, or an agent with the calls that it made.
type turn struct {
	Person bool
	Name   string // of the agent
	At     time.Time
	Parts  []turnPart
}

// turnPart is text or a call.
type turnPart struct {
	Text    string
	Stopped string // why the text has no end
	Call    *turnCall
}

// turnCall is a call of an agent and what became of it.
type turnCall struct {
	id        string
	Tool      string
	Status    conversation.Status // lost: nobody knows what became of it
	Took      time.Duration
	Record    string // id of its record
	Arguments block
	Result    block
}

// lost is the status of a call whose end was not stored.
const lost conversation.Status = "lost"

// turnsOf reads a transcript. What is no message of a chat is passed over.
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

// say adds what an agent said and wants to be called.
func (t *turn) say(lang locale.Language, m *conversation.Message) {
	var stopped string
	if m.Note != nil {
		t.Name, stopped = m.Note.Agent, m.Note.Stopped
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

// answer notes what became of a call. An id may come again in a later round, so the first
// call that waits is meant.
func (t *turn) answer(lang locale.Language, m *conversation.Message) {
	for _, p := range t.Parts {
		if p.Call == nil || p.Call.id != m.CallID || p.Call.Status != lost {
			continue
		}
		p.Call.Result = codeUpTo(text(lang, "chat.result"), []byte(m.Text()), maxFold)
		if p.Call.Status = conversation.Success; m.Note != nil {
			p.Call.Status, p.Call.Record, p.Call.Took = m.Note.Status, m.Note.Call, time.Duration(m.Note.DurationMS)*time.Millisecond
		}
		return
	}
}

// statusTone is the tone of what became of a call or of a step.
func statusTone(status string) string {
	switch status {
	case "success", "passed":
		return "good"
	case "failed", "error":
		return "bad"
	case "skipped", "running":
		return "calm"
	}
	return "warn"
}
