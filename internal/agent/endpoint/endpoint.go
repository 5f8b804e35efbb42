// Package endpoint asks language models behind OpenAI-compatible endpoints, through the
// official client, and hands on their answers as they stream in. It puts together the calls
// whose parts come in pieces, sends again what was not taken, and turns the endpoint's errors
// into ones that people can read.
//
// It never decides what is asked, never runs a call, and never reads keys from the
// environment: a model without a key gets none.
//
//	reply, err := endpoint.New().Ask(ctx, model, body, func(p endpoint.Piece) { fmt.Print(p.Text) })
package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
)

// Client asks models. It may be used concurrently.
type Client struct{ http *http.Client }

// New makes a Client. Close ends it.
func New() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &Client{http: &http.Client{Transport: transport}}
}

// Close lets go of connections that wait for the next question.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Piece is a part of an answer, as soon as it is there.
type Piece struct {
	Text      string
	Reasoning string // what the model thinks aloud beside its answer
}

// Call is a call by the endpoint's function calling.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON, if the model wrote JSON
}

// Reply is a whole answer.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string // why it ended: stop, length, tool_calls …; "": nobody said
	Usage     Usage
}

// CutOff tells whether the answer may lack its end.
func (r *Reply) CutOff() bool { return r.Finish == "length" || r.Finish == "" }

// Usage is what an answer cost, in tokens. Zeros: the endpoint did not say.
type Usage struct{ Prompt, Completion int }

// maxReply bounds what is held of one answer, in bytes.
const maxReply = 16 << 20

// Ask sends the body of a request for a chat completion and hears the answer as it comes.
// The body is an object without stream. An error of hear ends it and is returned.
func (c *Client) Ask(ctx context.Context, m *config.Model, body []byte, hear func(Piece) error) (*Reply, error) {
	limited, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	service := openai.NewChatCompletionService(c.options(m, body)...)
	stream := service.NewStreaming(limited, openai.ChatCompletionNewParams{})
	defer stream.Close()
	var a answer
	for stream.Next() {
		piece, err := a.add(stream.Current())
		if err == nil && piece != (Piece{}) {
			err = hear(piece)
		}
		if err != nil {
			return a.reply(), err
		}
	}
	if err := stream.Err(); err != nil {
		return a.reply(), explain(ctx, limited, m, err)
	}
	if !a.begun {
		return nil, fault.New(fault.UpstreamProtocol, "model %s answered with something that is no stream of a chat completion", m.Name).
			WithHint("check the url of the model: it mostly ends in /v1")
	}
	return a.reply(), nil
}

func (c *Client) options(m *config.Model, body []byte) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(m.URL + "/"), option.WithHTTPClient(c.http), option.WithMaxRetries(m.Retries),
		option.WithRequestBody("application/json", body),
	}
	if m.Key != "" {
		opts = append(opts, option.WithAPIKey(m.Key))
	}
	return opts
}

// answer is a reply while it comes in.
type answer struct {
	begun           bool
	text, reasoning strings.Builder
	calls           []*call
	finish          string
	usage           Usage
	size            int
}

// call is one whose arguments come in pieces.
type call struct {
	index int64
	id    string
	name  string
	args  strings.Builder
}

// add takes one event in.
func (a *answer) add(chunk openai.ChatCompletionChunk) (p Piece, err error) {
	if a.size += len(chunk.RawJSON()); a.size > maxReply {
		return p, fault.New(fault.TooLarge, "the model's answer is larger than %d bytes", maxReply)
	}
	if chunk.Usage.TotalTokens > 0 {
		a.usage = Usage{int(chunk.Usage.PromptTokens), int(chunk.Usage.CompletionTokens)}
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		a.begun = true
		delta := &choice.Delta
		p.Text += delta.Content + delta.Refusal
		if field, ok := delta.JSON.ExtraFields["reasoning_content"]; ok {
			var text string
			if json.Unmarshal([]byte(field.Raw()), &text) == nil {
				p.Reasoning += text
			}
		}
		for _, part := range delta.ToolCalls {
			a.addCall(part)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	a.text.WriteString(p.Text)
	a.reasoning.WriteString(p.Reasoning)
	return p, nil
}

// addCall takes a part of a call in. Some endpoints give all calls the same index: another
// id begins another call.
func (a *answer) addCall(part openai.ChatCompletionChunkChoiceDeltaToolCall) {
	at := -1
	for i := range a.calls {
		if a.calls[i].index == part.Index {
			at = i
		}
	}
	if at < 0 || part.ID != "" && a.calls[at].id != "" && part.ID != a.calls[at].id {
		a.calls = append(a.calls, &call{index: part.Index})
		at = len(a.calls) - 1
	}
	c := a.calls[at]
	if part.ID != "" {
		c.id = part.ID
	}
	if part.Function.Name != "" && part.Function.Name != c.name {
		c.name += part.Function.Name
	}
	c.args.WriteString(part.Function.Arguments)
}

func (a *answer) reply() *Reply {
	r := &Reply{Text: a.text.String(), Reasoning: a.reasoning.String(), Finish: a.finish, Usage: a.usage}
	for _, c := range a.calls {
		r.Calls = append(r.Calls, Call{ID: c.id, Name: c.name, Arguments: c.args.String()})
	}
	return r
}
