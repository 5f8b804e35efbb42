package restapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Waits is what a call has in addition that outlives its request.
type Waits struct {
	State     store.WaitState `json:"state,omitempty"`     // "": the call never waited
	For       store.WaitFor   `json:"waits_for,omitempty"` // "" once it has ended
	Updated   time.Time       `json:"updated_at,omitzero"`
	Expires   time.Time       `json:"expires_at,omitzero"` // from then on only its record is left
	Questions []Question      `json:"questions,omitempty"` // open ones; not in lists
	Result    json.RawMessage `json:"result,omitempty"`    // as the caller would have got it; not in lists
	Failure   *fault.Error    `json:"failure,omitempty"`   // why there is no result
}

// Question is what the server of a waiting call asks.
type Question struct {
	Key    string          `json:"key"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Open tells whether a call goes on: it outlives its request and has not ended.
func (w Waits) Open() bool { return w.State == store.Working || w.State == store.InputRequired }

// MayChange tells whether a caller may cancel a call and answer its questions.
func MayChange(who access.Principal, owner string) bool { return who.MayAdmin() || who.ID == owner }

// showRow shows a waiting call without its record, which is written at its end.
func showRow(w *store.Waiting) Call {
	c := Call{
		ID: w.ID, At: w.Created, Principal: w.Owner, Profile: w.Profile, Server: string(w.Server), Tool: string(w.Tool),
		Message: w.Message, Level: "info", Ref: w.Ref, Waits: Waits{State: w.State, For: w.For, Updated: w.Updated, Expires: w.Expires},
	}
	for _, q := range waiting.ReadQuestions(w).Open {
		c.Questions = append(c.Questions, Question{q.Key, q.Method, q.Params})
	}
	return c
}

// addEnd adds to the record of a waiting call how the call ended.
func (c *Call) addEnd(w *store.Waiting) {
	c.Waits = Waits{State: w.State, Updated: w.Updated, Expires: w.Expires}
	res, err := call.Ended(w)
	if err != nil {
		c.Failure = fault.As(asFault(err))
		return
	}
	c.Result = res.Raw
}

// listWaiting returns a page of open calls.
func (a *API) listWaiting(ctx context.Context, f callFilter) (CallPage, error) {
	out := CallPage{Calls: []Call{}}
	if f.CallFilter != (store.CallFilter{Principal: f.Principal, Before: f.Before}) {
		return out, fault.New(fault.BadRequest, "waiting=true takes only principal, limit and cursor")
	}
	limit, err := f.page()
	if err != nil {
		return out, err
	}
	rows, err := a.Waiting.List(ctx, store.WaitingFilter{Owner: f.Principal, Open: true, Before: f.Before, Limit: limit})
	for i := range rows {
		out.Calls = append(out.Calls, showRow(&rows[i]))
	}
	if len(rows) == limit {
		out.Next = rows[limit-1].Cursor()
	}
	return out, err
}

// maxWait is how long a request waits at most: many clients give up after a minute.
const maxWait = time.Minute

// parseWait reads how long a request may wait; 0 without it.
func parseWait(q url.Values) (time.Duration, error) {
	text := q.Get("wait")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, fault.New(fault.BadRequest, "wait must be a duration from 0s to 60s, such as 30s, got %.40q", text)
	}
	return d, nil
}

// readCall is the route: it waits if that is asked for.
func (a *API) readCall(q *request) (any, error) {
	d, err := parseWait(q.query)
	if err != nil {
		return nil, err
	}
	return a.WaitCall(q.Context(), q.who, q.id(), d)
}

// ReadCall returns a call as it is now. Callers read only their own.
func (a *API) ReadCall(ctx context.Context, who access.Principal, id string) (Call, error) {
	return a.WaitCall(ctx, who, id, 0)
}

// WaitCall waits until a waiting call has ended or asks something, for at most d, and returns it. Of
// any other call it returns the record at once.
func (a *API) WaitCall(ctx context.Context, who access.Principal, id string, d time.Duration) (Call, error) {
	c, err := a.waitCall(ctx, who, id, d)
	if err == nil {
		err = a.addScript(ctx, &c)
	}
	return c, err
}

func (a *API) waitCall(ctx context.Context, who access.Principal, id string, d time.Duration) (Call, error) {
	w, err := a.waitRow(ctx, whose(who), id, d)
	switch {
	case fault.Is(err, fault.NotFound):
		return a.readRecord(ctx, who, id)
	case err != nil:
		return Call{}, err
	case !w.Ended():
		return showRow(&w), nil
	}
	c, err := a.readRecord(ctx, who, id)
	if fault.Is(err, fault.NotFound) { // that of a canceled call comes a little later
		c = showRow(&w)
		err = nil
	}
	c.addEnd(&w)
	return c, err
}

// whose is whose waiting calls the caller sees; "": everybody's.
func whose(who access.Principal) string {
	if who.MayRead() {
		return ""
	}
	return who.ID
}

// waitRow reads the row of a waiting call, after a wait of at most d. The wait ends when the gateway goes down.
func (a *API) waitRow(ctx context.Context, owner, id string, d time.Duration) (store.Waiting, error) {
	if d == 0 {
		return a.Store.Waiting(ctx, owner, id)
	}
	waits, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		select {
		case <-a.Events.closing:
		case <-waits.Done():
		}
	}()
	w, err := a.Waiting.Wait(waits, owner, id, d)
	if w.ID != "" && waits.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return w, err
}

// changeable is a waiting call that the caller may cancel or answer.
func (a *API) changeable(ctx context.Context, who access.Principal, id string) (store.Waiting, error) {
	w, err := a.Store.Waiting(ctx, whose(who), id)
	if fault.Is(err, fault.NotFound) {
		_, err = a.readRecord(ctx, who, id)
		if err == nil {
			err = hasEnded(id)
		}
		return w, err
	}
	if err == nil && !MayChange(who, w.Owner) {
		err = who.Forbidden("%s may not change calls of others")
	}
	return w, err
}

// hasEnded is the error for a change of a call that has ended.
func hasEnded(id string) error {
	return fault.New(fault.Conflict, "call %s has ended", id)
}

// CancelCall cancels a waiting call. One that was canceled before stays so; one that has ended
// otherwise is a fault.Conflict.
func (a *API) CancelCall(ctx context.Context, who access.Principal, id string) (Call, error) {
	w, err := a.changeable(ctx, who, id)
	if err != nil {
		return Call{}, err
	}
	if _, err = a.Waiting.Cancel(ctx, w.Owner, id); err != nil {
		return Call{}, noCall(err, id)
	}
	c, err := a.ReadCall(ctx, who, id)
	if err == nil && c.State != store.Cancelled {
		err = hasEnded(id)
	}
	return c, err
}

// answerCall is the route by which questions are answered.
func (a *API) answerCall(q *request) (any, error) {
	var in struct {
		Answers map[string]json.RawMessage `json:"answers"`
	}
	if err := q.decode(&in, `{"answers": {KEY: ANSWER}}`); err != nil {
		return nil, err
	}
	return a.AnswerCall(q.Context(), q.who, q.id(), in.Answers)
}

// AnswerCall answers open questions of a waiting call, by their keys. Those that were answered before
// keep their answers.
func (a *API) AnswerCall(ctx context.Context, who access.Principal, id string, answers map[string]json.RawMessage) (Call, error) {
	w, err := a.changeable(ctx, who, id)
	if err == nil && w.Ended() {
		err = hasEnded(id)
	}
	if err == nil {
		err = checkAnswers(waiting.ReadQuestions(&w), answers)
	}
	if err != nil {
		return Call{}, err
	}
	if _, err = a.Waiting.Answer(ctx, w.Owner, id, answers); err != nil {
		return Call{}, noCall(err, id)
	}
	return a.ReadCall(ctx, who, id)
}

// checkAnswers checks that the answers are objects, and to questions that were asked.
func checkAnswers(q waiting.Questions, answers map[string]json.RawMessage) error {
	var open []string
	for _, one := range q.Open {
		open = append(open, one.Key)
	}
	if len(answers) == 0 {
		return fault.New(fault.BadRequest, "no answer is given").WithHint("send {\"answers\": {KEY: ANSWER}} with keys of the call's questions")
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		switch {
		case answers[key][0] != '{':
			return fault.New(fault.BadRequest, "the answer to %.40q must be an object", key).
				WithHint("to elicitation/create, for example: {\"action\": \"accept\", \"content\": {…}}")
		case !slices.Contains(open, key) && !slices.Contains(q.Done, key):
			return fault.New(fault.BadRequest, "the call asks no question %.40q", key).WithHint("open questions: %s", strings.Join(open, ", "))
		}
	}
	return nil
}
