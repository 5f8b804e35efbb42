package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Client is a client of any environment, with either form of tool names, and with structured or
// text answers. It is safe for concurrent use. It implements Sessions, so another environment's
// sessions can be the store of one's own.
type Client struct {
	link  link
	close func() error // of the link, once

	mu    sync.Mutex
	names map[string]bool // the tools that the server listed; nil: not asked yet
}

// link carries requests to an initialized server.
type link interface {
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	Close() error
}

func newClient(l link) *Client { return &Client{link: l, close: sync.OnceValue(l.Close)} }

// Close ends the connection, and the server if Start started it.
func (c *Client) Close() error { return c.close() }

// Call calls a tool by its full name and decodes its structured content, or else its text as JSON.
// Into may be nil; a *string takes plain text. Errors of the tool are a *ToolError or a
// *NotFoundError.
func (c *Client) Call(ctx context.Context, tool string, args, into any) error {
	params, err := rawjson.Marshal(struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}{tool, args})
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	raw, err := c.link.ask(ctx, "tools/call", params)
	var refused *mcp.Error
	switch {
	case errors.As(err, &refused): // some servers refuse a call in the protocol, not in a result
		return errorIn(tool, refused.Message)
	case err != nil:
		return fmt.Errorf("%s: %w", tool, err)
	}
	text := textOf(raw)
	if string(rawjson.Get(raw, "isError")) == "true" {
		return errorIn(tool, text)
	}
	if err := readAnswer(rawjson.Get(raw, "structuredContent"), text, into); err != nil {
		return fmt.Errorf("%s: read the answer: %w", tool, err)
	}
	return nil
}

// ask calls a protocol tool under the server's name for it. The answer must have the member must,
// if not "".
func (c *Client) ask(ctx context.Context, name, must string, args, into any) error {
	full, err := c.name(ctx, name)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := c.Call(ctx, full, args, &answer); err != nil {
		return err
	}
	value := rawjson.Get(answer, must)
	if must != "" && (value == nil || must == "id" && rawjson.IsNull(value)) {
		return fmt.Errorf("%s: read the answer: it has no %s: %.100q", full, must, answer)
	}
	if err := decode(answer, into); err != nil {
		return fmt.Errorf("%s: read the answer: %w", full, err)
	}
	return nil
}

// name returns the server's name for a protocol tool. A missing tool is looked up again, as servers
// may add tools.
func (c *Client) name(ctx context.Context, name string) (string, error) {
	if full := c.known(name); full != "" {
		return full, nil
	}
	names, err := c.list(ctx)
	if err != nil {
		return "", fmt.Errorf("list tools: %w", err)
	}
	c.mu.Lock()
	c.names = names
	c.mu.Unlock()
	if full := c.known(name); full != "" {
		return full, nil
	}
	return "", fmt.Errorf("%s%s: %w", slashPrefix, name, ErrNotOffered)
}

// known returns the listed name of a protocol tool; "": it is not listed.
func (c *Client) known(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, full := range []string{underscorePrefix + name, slashPrefix + name} {
		if c.names[full] {
			return full
		}
	}
	return ""
}

// IsEnvironment tells whether the server speaks the environment protocol.
func (c *Client) IsEnvironment(ctx context.Context) (bool, error) {
	_, err := c.name(ctx, "get_description")
	if errors.Is(err, ErrNotOffered) {
		return false, nil
	}
	return err == nil, err
}

// maxPages limits a list that never ends.
const maxPages = 1000

func (c *Client) list(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	params := json.RawMessage("{}")
	for range maxPages {
		raw, err := c.link.ask(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		w := rawjson.Array(rawjson.Get(raw, "tools"))
		for w.Next() {
			name, _ := rawjson.String(rawjson.Get(w.Value, "name"))
			names[name] = true
		}
		if err := w.Err(); err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		cursor, _ := rawjson.String(rawjson.Get(raw, "nextCursor"))
		if cursor == "" {
			return names, nil
		}
		params = mcp.With(json.RawMessage("{}"), "cursor", rawjson.AppendString(nil, cursor))
	}
	return nil, errors.New("the list has no end")
}
