// Package endpoint asks language models behind OpenAI-compatible endpoints, through the
// official client, and hands on their answers as they stream in. It puts together the calls
// whose parts come in pieces, sends again what was not taken, and turns the endpoint's errors
// into ones that people can read. Answers are read as endpoints give them, which is not
// always as the protocol has it: nothing that was said is lost for its form.
//
// It never decides what is asked, never runs a call, and never reads keys from the
// environment: a model without a key gets none.
//
//	reply, err := endpoint.New().Ask(ctx, model, body, func(p conversation.Piece) error {
//		_, err := fmt.Print(p.Text)
//		return err
//	})
package endpoint

import (
	"context"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Client asks models. It may be used concurrently.
type Client struct{ http *http.Client }

// New makes a Client. Close ends it.
func New() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &Client{http: &http.Client{Transport: transport, CheckRedirect: origin.Redirect}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

const (
	// maxReply limits the size of a reply.
	maxReply = 16 << 20
	// maxPage limits the size of an error page.
	maxPage = 64 << 10
)

// Ask sends a request that Encode wrote, and calls hear with each piece of the reply. An error of
// hear ends it and is returned.
func (c *Client) Ask(ctx context.Context, m *config.Model, body []byte, hear func(conversation.Piece) error) (*conversation.Reply, error) {
	limited, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	var response *http.Response
	service := openai.NewChatCompletionService(c.options(m, body)...)
	_, err := service.New(limited, openai.ChatCompletionNewParams{}, option.WithResponseBodyInto(&response))
	if response != nil {
		defer response.Body.Close()
	}
	switch {
	case response != nil && response.StatusCode >= http.StatusBadRequest && limited.Err() == nil:
		return nil, explainStatus(m, response)
	case err != nil:
		return nil, explain(ctx, limited, m, err)
	}
	a := answer{model: m.Name}
	var enough error // the error of hear
	err = a.read(response.Body, func(p conversation.Piece) error {
		if p != (conversation.Piece{}) {
			enough = hear(p)
		}
		return enough
	})
	switch {
	case enough != nil:
		return a.reply(), enough
	case err != nil:
		return a.reply(), explain(ctx, limited, m, err)
	case !a.begun:
		return nil, a.nothing()
	}
	return a.reply(), nil
}

func (c *Client) options(m *config.Model, body []byte) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(m.URL + "/"), option.WithHTTPClient(c.http), option.WithMaxRetries(m.Retries),
		option.WithRequestBody("application/json", body), option.WithMiddleware(boundError),
	}
	if m.Key != "" {
		opts = append(opts, option.WithAPIKey(m.Key))
	}
	return opts
}

// boundError limits the size of error pages, which the client reads whole.
func boundError(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		body := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, maxPage), body}
	}
	return res, err
}
