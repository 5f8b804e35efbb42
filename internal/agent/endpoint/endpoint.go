// Package endpoint asks language models behind OpenAI-compatible endpoints, and hands on their
// answers as they stream in. It puts together the calls whose parts come in pieces, sends again
// what was not taken, and turns the endpoint's errors into ones that people can read. Answers
// are read as endpoints give them, which is not always as the protocol has it: nothing that was
// said is lost for its form.
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
	"net/http"

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
	response, err := c.send(limited, m, body)
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
