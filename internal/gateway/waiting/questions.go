package waiting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Questions are what a call asks its client. A key is never used twice in the life of a call.
type Questions struct {
	Open []Question                 `json:"open,omitempty"`
	Said map[string]json.RawMessage `json:"said,omitempty"` // answers that the server has not got yet, by its own name for the question
	Used int                        `json:"used,omitempty"` // how many there were
	Done []string                   `json:"done,omitempty"` // keys of answered ones
}

// Question is one question of a server.
type Question struct {
	Key    string          `json:"key"`
	As     string          `json:"as"` // the server's own name for it
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Refused is the answer to a question that the client did not answer.
func (q Question) Refused(err error) json.RawMessage {
	if q.Method == "elicitation/create" {
		return json.RawMessage(`{"action":"cancel"}`)
	}
	return append(rawjson.AppendString([]byte(`{"`+refusal+`":`), err.Error()), '}')
}

// refusal is the member of an answer that says why the client gave none.
const refusal = "toolfit/refused"

// Refused is why the client did not answer; "" if it did.
func Refused(said json.RawMessage) string {
	why, _ := rawjson.String(rawjson.Get(said, refusal))
	return why
}

// ReadQuestions are the questions of a row.
func ReadQuestions(w *store.Waiting) Questions {
	var q Questions
	if len(w.Questions) > 0 {
		json.Unmarshal(w.Questions, &q) // written by us
	}
	return q
}

// Write puts the questions into the row: open ones make it input_required.
func (q *Questions) Write(w *store.Waiting) {
	w.Questions, _ = json.Marshal(q) // strings and valid JSON only
	w.State = store.Working
	w.For = store.ForServer
	if len(q.Open) > 0 {
		w.State = store.InputRequired
		w.For = store.ForAnswers
	}
}

// add adds a question under a key that was not used before.
func (q *Questions) add(as, method string, params json.RawMessage) {
	q.Used++
	key := as
	for n := q.Used; q.knows(key); n++ {
		key = as + "#" + strconv.Itoa(n)
	}
	q.Open = append(q.Open, Question{Key: key, As: as, Method: method, Params: params})
}

func (q *Questions) knows(key string) bool {
	return slices.Contains(q.Done, key) || slices.ContainsFunc(q.Open, func(o Question) bool { return o.Key == key })
}

// AddAll adds the questions of a modern server's inputRequests. Those with again were there before:
// they are open until they are answered, and answered only once.
func (q *Questions) AddAll(requests json.RawMessage, again bool) {
	for r := rawjson.Object(requests); requests != nil && r.Next(); {
		as := string(r.Key)
		if again && q.knows(as) {
			continue
		}
		method, _ := rawjson.String(rawjson.Get(r.Value, "method"))
		q.add(as, method, slices.Clone(rawjson.Get(r.Value, "params")))
	}
}

// Requests are the open questions as a modern client reads them.
func (q *Questions) Requests() json.RawMessage {
	b := []byte{'{'}
	for _, o := range q.Open {
		b = append(rawjson.AppendString(mcp.Comma(b), o.Key), `:{"method":`...)
		b = rawjson.AppendString(b, o.Method)
		if len(o.Params) > 0 && o.Params[0] == '{' {
			b = append(append(b, `,"params":`...), mcp.Without(o.Params, "elicitationId")...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// Answers are the answers that have come, by the server's own names for the questions. An error says
// that the client refused one that cannot be refused.
func (q *Questions) Answers() (json.RawMessage, error) {
	for _, said := range q.Said {
		if why := Refused(said); why != "" {
			return nil, fault.New(fault.UpstreamError, "the server asked the client a question, and the client answered: %s", why)
		}
	}
	if len(q.Said) == 0 {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(q.Said)
}

// answer takes the answers to open questions; others are passed over. False: there was none.
func (q *Questions) answer(answers map[string]json.RawMessage) bool {
	before := len(q.Open)
	q.Open = slices.DeleteFunc(q.Open, func(o Question) bool {
		said, given := answers[o.Key]
		if given {
			if q.Said == nil {
				q.Said = map[string]json.RawMessage{}
			}
			q.Said[o.As] = said
			q.Done = append(q.Done, o.Key)
		}
		return given
	})
	return len(q.Open) < before
}

// errNothing says that an answer answers nothing.
var errNothing = errors.New("nothing is answered")

// Answer brings answers to open questions; others are ignored. When nothing is open any more, the
// call goes on.
func (c *Calls) Answer(ctx context.Context, owner, id string, answers map[string]json.RawMessage) (store.Waiting, error) {
	parked := false
	w, saved, err := c.change(ctx, owner, id, func(w *store.Waiting) error {
		q := ReadQuestions(w)
		if !q.answer(answers) {
			return errNothing
		}
		q.Write(w)
		parked = w.Replica == "" && len(q.Open) == 0
		if parked { // in the same statement, so that it is taken over if we go before we have begun
			w.Replica = c.replica
			w.Lease = c.opts.Now().Add(c.opts.Lease)
		}
		return nil
	})
	switch {
	case err == errNothing:
		return w, nil
	case err != nil || !saved:
		return w, err
	case parked:
		c.takeUp(id)
		return w, nil
	}
	if l := c.find(id); l != nil {
		l.soon()
	}
	return w, nil
}

// Ask asks the client on behalf of a server whose call is open, and waits for the answer.
func (l *Live) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var key string
	_, saved, err := l.change(ctx, func(w *store.Waiting) {
		q := ReadQuestions(w)
		q.add("q"+strconv.Itoa(q.Used+1), method, slices.Clone(params))
		added := &q.Open[len(q.Open)-1]
		key = added.Key
		added.As = key
		q.Write(w)
	})
	if err == nil && !saved {
		err = ErrCanceled
	}
	if err != nil {
		return nil, err
	}
	var said json.RawMessage
	_, err = l.calls.until(ctx, "", l.ID, longestAsk, func(w *store.Waiting) bool {
		said = ReadQuestions(w).Said[key]
		return w.Ended() || said != nil
	})
	_, saved, gone := l.change(context.WithoutCancel(ctx), func(w *store.Waiting) { // the server has it, or asks no more
		q := ReadQuestions(w)
		q.Open = slices.DeleteFunc(q.Open, func(o Question) bool { return o.Key == key })
		delete(q.Said, key)
		q.Write(w)
	})
	if err = cmp.Or(err, gone); err != nil {
		return nil, err
	}
	if !saved || said == nil {
		return nil, ErrCanceled
	}
	if why := Refused(said); why != "" {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", why)
	}
	return said, nil
}

// longestAsk is longer than anybody lets a server wait for an answer.
const longestAsk = 24 * time.Hour
