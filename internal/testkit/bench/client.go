package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// target is an endpoint that is measured.
type target struct {
	name     string
	era      string // of its clients
	proc     *process
	upstream *process // the server behind it
	prefix   string   // of tool names; "" for a proxy
	key      string   // "" for none
}

// isProxy tells whether the others are compared with this target.
func (t *target) isProxy() bool { return t.prefix == "" }

// client is one keep-alive connection. It is lean, so that on a small machine most of the CPU is
// left for what is measured.
type client struct {
	target  *target
	session string
	conn    net.Conn
	in      *bufio.Reader
	body    bytes.Buffer // of the last answer
}

// dial connects. The connection lasts until ctx ends or close is called, but not longer than limit.
func dial(ctx context.Context, t *target, limit time.Duration) (*client, error) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", t.proc.addr)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(limit)) // a dead connection shows in its first use
	context.AfterFunc(ctx, func() { conn.Close() })
	return &client{target: t, conn: conn, in: bufio.NewReaderSize(conn, 32<<10)}, nil
}

func (c *client) close() { c.conn.Close() }

// open connects and opens a session, which only legacy clients have.
func open(ctx context.Context, t *target, limit time.Duration) (*client, error) {
	c, err := dial(ctx, t, limit)
	if err != nil || t.era == modern {
		return c, err
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"bench","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		if err := c.do(c.request("POST", "/mcp", "", message)); err != nil {
			c.close()
			return nil, fmt.Errorf("open session: %w", err)
		}
	}
	return c, nil
}

// request is the bytes of one HTTP request.
func (c *client) request(method, path, headers, body string) []byte {
	version := "2025-11-25"
	if c.target.era == modern {
		version = "2026-07-28"
	}
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nMcp-Protocol-Version: %s\r\n%s", method, path, c.target.proc.addr, version, headers)
	if c.target.key != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", c.target.key)
	}
	if c.session != "" {
		b = fmt.Appendf(b, "Mcp-Session-Id: %s\r\n", c.session)
	}
	if method == "GET" {
		return append(b, "Accept: text/event-stream\r\n\r\n"...)
	}
	b = append(b, "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"...)
	return fmt.Appendf(b, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// send sends a request and reads the head of the answer.
func (c *client) send(request []byte) (*http.Response, error) {
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answered %s", c.target.name, resp.Status)
	}
	return resp, err
}

// do sends a request and reads the whole answer.
func (c *client) do(request []byte) error {
	resp, err := c.send(request)
	if err != nil {
		return err
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(resp.Body)
	return err
}

// number is the placeholder for the number of a call in prepared requests.
const number = "########"

// caller makes calls of one scenario, one after the other.
type caller struct {
	*client
	scenario *scenario
	request  []byte
	at       []int // where its number is
	last     int
}

func newCaller(c *client, s *scenario) *caller {
	w := &caller{client: c, scenario: s, last: 10_000_000}
	if s.flat {
		w.request = c.request("POST", flatPath+s.tool+"/call", "", s.args)
	} else {
		w.request = c.mcpRequest(s)
	}
	for at := range w.request {
		if bytes.HasPrefix(w.request[at:], []byte(number)) {
			w.at = append(w.at, at)
		}
	}
	return w
}

// mcpRequest is the request of a scenario. A modern one has more headers, and metadata in its params.
func (c *client) mcpRequest(s *scenario) []byte {
	name := c.target.prefix + s.tool
	headers := "Mcp-Method: " + s.method + "\r\n"
	params := []string{modernMeta}
	if c.target.era == legacy {
		headers = ""
		params = nil
	}
	if s.tool != "" {
		params = append(params, fmt.Sprintf(`"name":%q,"arguments":%s`, name, s.args))
	}
	if s.tool != "" && c.target.era == modern {
		headers += "Mcp-Name: " + name + "\r\n"
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, number, s.method, strings.Join(params, ","))
	return c.request("POST", "/mcp", headers, body)
}

// modernMeta is the metadata of a modern request.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// errWrong is a wrong answer; after any other error the connection cannot be used again.
var errWrong = errors.New("wrong answer")

// call makes one call and checks its answer.
func (c *caller) call() error {
	c.last++
	n := strconv.AppendInt(nil, int64(c.last), 10)
	for _, at := range c.at {
		copy(c.request[at:], n)
	}
	if err := c.do(c.request); err != nil {
		return err
	}
	body := c.body.Bytes()
	if !c.scenario.flat && !c.answers(body, n) || !c.scenario.good(body, n) {
		return fmt.Errorf("%w from %s to %s: %.200s", errWrong, c.target.name, c.scenario.name, body)
	}
	return nil
}

// answers tells whether the body is the complete answer to the request with this id.
func (c *caller) answers(body, id []byte) bool {
	head := body[:min(len(body), 128)]
	return bytes.Contains(head, append([]byte(`"id":`), id...)) && bytes.Contains(head, []byte(`"result":`)) &&
		(c.target.era == legacy || bytes.Contains(body, []byte(`"resultType":"complete"`)))
}
