package chatapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/state/access"
)

// SessionHeader names the session in which a chat is stored.
const SessionHeader = "X-Toolfit-Session"

// Extra is what toolfit adds to an answer: the session and the calls.
type Extra struct {
	Session string         `json:"session,omitempty"`
	Call    *agent.Report  `json:"call,omitempty"`  // streamed: what has become of one
	Calls   []agent.Report `json:"calls,omitempty"` // not streamed: all
	Rounds  int            `json:"rounds,omitempty"`
	Limit   string         `json:"limit,omitempty"` // which ended the answer
}

// complete answers a chat.
func (a *API) complete(w http.ResponseWriter, r *http.Request, who access.Principal) {
	data, err := access.ReadBody(r, a.MaxBody)
	var req *request
	if err == nil {
		req, err = parse(data)
	}
	if err == nil && !a.has(who, req.Agent) {
		err = noModel(req.Agent)
	}
	if err != nil {
		a.fail(w, r, err)
		return
	}
	req.Principal = who
	id := "chatcmpl-" + strings.ToLower(rand.Text())
	if req.stream {
		a.streamed(r, &stream{w: w, id: id, req: req, created: time.Now().Unix()})
		return
	}
	answer, err := a.Agents.Answer(r.Context(), req.Turn)
	if answer != nil {
		nameSession(w, answer.Session)
	}
	if err != nil {
		if answer != nil { // a client that retries would have everything done again
			w.Header().Set("X-Should-Retry", "false")
		}
		a.fail(w, r, err)
		return
	}
	inbound.WriteJSON(w, http.StatusOK, completion{
		ID: id, Object: "chat.completion", Created: time.Now().Unix(), Model: req.Agent,
		Choices: []choice{{Message: &message{Role: "assistant", Content: answer.Text, Reasoning: answer.Thought}, Finish: &answer.Finish}},
		Usage:   usageOf(answer.Usage),
		Toolfit: &Extra{Session: answer.Session, Calls: answer.Calls, Rounds: answer.Rounds, Limit: answer.Limit},
	})
}

func nameSession(w http.ResponseWriter, session string) {
	if session != "" {
		w.Header().Set(SessionHeader, session)
	}
}

// completion is an answer, or a chunk of one.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
	Toolfit *Extra   `json:"toolfit,omitempty"`
}

type choice struct {
	Index    int      `json:"index"`
	Message  *message `json:"message,omitempty"`
	Delta    *delta   `json:"delta,omitempty"`
	Logprobs *string  `json:"logprobs"` // always null
	Finish   *string  `json:"finish_reason"`
}

type message struct {
	Role      string  `json:"role"`
	Content   string  `json:"content"`
	Reasoning string  `json:"reasoning_content,omitempty"`
	Refusal   *string `json:"refusal"` // always null
}

type delta struct {
	Role      string `json:"role,omitempty"`
	Content   string `json:"content,omitempty"`
	Reasoning string `json:"reasoning_content,omitempty"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func usageOf(u conversation.Usage) *usage {
	return &usage{u.Prompt, u.Completion, u.Prompt + u.Completion}
}

// stream is an answer that is being streamed.
type stream struct {
	w       http.ResponseWriter
	id      string
	req     *request
	created int64

	mu    sync.Mutex
	begun bool
	err   error // the client takes no more
}

const (
	// pulse is the interval of keep-alive comments.
	pulse = 15 * time.Second
	// writeLimit is how long writing one event may take.
	writeLimit = 30 * time.Second
)

// streamed streams an answer. It begins with the first event, so that earlier errors have a status
// of their own.
func (a *API) streamed(r *http.Request, s *stream) {
	ctx, cancel := context.WithCancel(r.Context())
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	beside.Go(func() { s.beat(ctx) })
	s.req.Hear = func(e agent.Event) {
		if s.hear(e) != nil {
			cancel() // nobody is there any more
		}
	}
	answer, err := a.Agents.Answer(ctx, s.req.Turn)
	switch {
	case err != nil && !s.started():
		a.fail(s.w, r, err)
	case err != nil:
		s.send(map[string]any{"error": a.explain(r, err)})
	default:
		s.end(answer)
	}
}

func (s *stream) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

func (s *stream) hear(e agent.Event) error {
	c := s.chunk(&delta{Content: e.Text, Reasoning: e.Reasoning}, nil)
	switch {
	case e.Call != nil:
		c.Toolfit = &Extra{Call: e.Call}
	case e.Text == "" && e.Reasoning == "": // the first
		c.Choices[0].Delta.Role = "assistant"
		c.Toolfit = &Extra{Session: e.Session}
		s.begin(e.Session)
	}
	return s.send(c)
}

func (s *stream) begin(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // proxies are to pass it on at once
	nameSession(s.w, session)
	s.w.WriteHeader(http.StatusOK)
	s.begun = true
}

func (s *stream) chunk(d *delta, finish *string) *completion {
	return &completion{
		ID: s.id, Object: "chat.completion.chunk", Created: s.created, Model: s.req.Agent,
		Choices: []choice{{Delta: d, Finish: finish}},
	}
}

func (s *stream) end(answer *agent.Answer) {
	last := s.chunk(&delta{}, &answer.Finish)
	last.Toolfit = &Extra{Session: answer.Session, Rounds: answer.Rounds, Limit: answer.Limit}
	s.send(last)
	if s.req.includeUsage {
		sum := s.chunk(nil, nil)
		sum.Choices = []choice{}
		sum.Usage = usageOf(answer.Usage)
		s.send(sum)
	}
	s.raw([]byte("data: [DONE]\n\n"))
}

func (s *stream) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.raw(append(append([]byte("data: "), text...), "\n\n"...))
}

// raw writes to the client, unless it has left.
func (s *stream) raw(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || !s.begun {
		return s.err
	}
	control := http.NewResponseController(s.w)
	control.SetWriteDeadline(time.Now().Add(writeLimit)) // a writer that has none waits as long as its reader
	if _, err := s.w.Write(text); err != nil {
		s.err = fault.New(fault.Canceled, "the caller has left")
		return s.err
	}
	control.Flush() // likewise
	return nil
}

// beat keeps the connection alive while a tool runs.
func (s *stream) beat(ctx context.Context) {
	repeat.Every(ctx.Done(), pulse, func() { s.raw([]byte(": working\n\n")) })
}
