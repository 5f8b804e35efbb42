// Package script is an endpoint without a model: it answers requests for chat completions as
// it is told, in the words of the protocol, streamed or not. The demo talks with it, so that
// nobody needs a key to see an agent at work, and so do tests.
//
// It never calls anything itself and keeps nothing.
//
//	srv := httptest.NewServer(script.New(func(r *script.Request) script.Answer {
//		if r.Last().Role == "tool" {
//			return script.Answer{Text: "There are 3 orders."}
//		}
//		return script.Answer{Calls: []script.Call{{Name: "shop__list_orders", Arguments: `{"status":"paid"}`}}}
//	}))
package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Request is a request for a chat completion.
type Request struct {
	Model         string          `json:"model"`
	Messages      []Message       `json:"messages"`
	Tools         []Tool          `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	Raw    json.RawMessage `json:"-"` // the whole body
	Header http.Header     `json:"-"`
}

type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
}

// Text is the message's content, where that is text.
func (m Message) Text() string {
	var text string
	json.Unmarshal(m.Content, &text) // anything but text is ignored
	return text
}

type Tool struct {
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (r *Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

type Call struct {
	ID        string // "": one is made up
	Name      string
	Arguments string
}

// Answer is what the model answers.
type Answer struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string                          // "": stop, or tool_calls with calls
	Piece     int                             // characters in one event; 0: 12
	Status    int                             // an HTTP error in place of an answer; 0: none
	Message   string                          // of that error
	Serve     func(http.ResponseWriter)       // writes the answer itself; nil: as above
	Wait      func(done <-chan struct{}) bool // called before each event; false: break off; may be nil
}

const maxBody = 64 << 20

// New makes an endpoint that answers by the script.
func New(answer func(*Request) Answer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		model := map[string]any{"id": "script", "object": "model", "created": 0, "owned_by": "script"}
		inbound.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{model}})
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		req := &Request{Raw: body, Header: r.Header}
		if err == nil {
			err = json.Unmarshal(body, req)
		}
		if err != nil {
			fail(w, http.StatusBadRequest, "the request cannot be read: "+err.Error())
			return
		}
		a := answer(req)
		switch {
		case a.Serve != nil:
			a.Serve(w)
		case a.Status != 0:
			fail(w, a.Status, a.Message)
		case req.Stream:
			a.stream(w, r, req)
		default:
			a.whole(w, req)
		}
	})
	return mux
}

func fail(w http.ResponseWriter, status int, message string) {
	inbound.WriteJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil,
	}})
}

func (a *Answer) finish() string {
	if len(a.Calls) > 0 {
		return cmp.Or(a.Finish, "tool_calls")
	}
	return cmp.Or(a.Finish, "stop")
}

// usage counts words as tokens.
func (a *Answer) usage(r *Request) map[string]int {
	in := len(strings.Fields(string(r.Raw)))
	out := len(strings.Fields(a.Text)) + len(a.Calls)
	return map[string]int{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func (a *Answer) toolCalls() []map[string]any {
	var list []map[string]any
	for i, c := range a.Calls {
		list = append(list, map[string]any{
			"index": i, "id": cmp.Or(c.ID, fmt.Sprintf("call_%d", i+1)), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		})
	}
	return list
}

func (a *Answer) whole(w http.ResponseWriter, r *Request) {
	message := map[string]any{"role": "assistant", "content": a.Text}
	if len(a.Calls) > 0 {
		message["tool_calls"] = a.toolCalls()
	}
	inbound.WriteJSON(w, http.StatusOK, map[string]any{
		"id": "chatcmpl-script", "object": "chat.completion", "created": time.Now().Unix(), "model": r.Model, "usage": a.usage(r),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": a.finish()}},
	})
}

// stream writes the answer in small pieces, as models do.
func (a *Answer) stream(w http.ResponseWriter, r *http.Request, req *Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) bool {
		if a.Wait != nil && !a.Wait(r.Context().Done()) {
			return false
		}
		text, _ := json.Marshal(v) // maps and strings
		_, err := fmt.Fprintf(w, "data: %s\n\n", text)
		http.NewResponseController(w).Flush() // a client that has left is noticed by the next write
		return err == nil
	}
	chunk := func(choices ...any) map[string]any {
		return map[string]any{"id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0, "model": req.Model, "choices": choices}
	}
	for _, delta := range a.deltas() {
		if !send(chunk(map[string]any{"index": 0, "delta": delta, "finish_reason": nil})) {
			return
		}
	}
	if !send(chunk(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": a.finish()})) {
		return
	}
	last := chunk()
	last["choices"] = []any{} // not null
	last["usage"] = a.usage(req)
	if !req.StreamOptions.IncludeUsage || send(last) {
		io.WriteString(w, "data: [DONE]\n\n") // likewise
	}
}

func (a *Answer) deltas() []map[string]any {
	list := []map[string]any{{"role": "assistant", "content": ""}}
	for _, p := range a.pieces(a.Reasoning) {
		list = append(list, map[string]any{"reasoning_content": p})
	}
	for _, p := range a.pieces(a.Text) {
		list = append(list, map[string]any{"content": p})
	}
	for _, c := range a.toolCalls() {
		f := c["function"].(map[string]any)
		args := f["arguments"].(string)
		f["arguments"] = ""
		list = append(list, map[string]any{"tool_calls": []any{c}})
		for _, p := range a.pieces(args) {
			list = append(list, map[string]any{"tool_calls": []any{map[string]any{"index": c["index"], "function": map[string]any{"arguments": p}}}})
		}
	}
	return list
}

func (a *Answer) pieces(text string) []string {
	var list []string
	for part := range slices.Chunk([]rune(text), cmp.Or(a.Piece, 12)) {
		list = append(list, string(part))
	}
	return list
}
