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

// target is one endpoint that is driven.
type target struct {
	name     string
	era      string // of its clients
	proc     *process
	upstream *process // the server behind it
	prefix   string   // of tool names
	key      string   // "" for none
}

// client is one keep-alive connection. It is lean, so that on a small machine most of the
// time goes to what is measured.
type client struct {
	target  *target
	session string
	conn    net.Conn
	in      *bufio.Reader
	body    bytes.Buffer // of the last answer
}

// dial connects. The connection lasts until ctx ends or close is called, and never longer than limit.
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

// open connects and, where clients have one, opens a session.
func open(ctx context.Context, t *target, limit time.Duration) (*client, error) {
	c, err := dial(ctx, t, limit)
	if err != nil || t.era == modern {
		return c, err
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		if err := c.do(c.request("POST", message, "")); err != nil {
			c.close()
			return nil, fmt.Errorf("open session: %w", err)
		}
	}
	return c, nil
}

// listen opens the session's own stream, on a connection of its own as clients do.
func (c *client) listen(ctx context.Context, limit time.Duration) (*client, error) {
	s, err := dial(ctx, c.target, limit)
	if err != nil {
		return nil, err
	}
	if _, err := s.send(c.request("GET", "", "")); err != nil {
		s.close()
		return nil, fmt.Errorf("open stream: %w", err)
	}
	return s, nil
}

// request is the bytes of one HTTP request. A modern one has more headers.
func (c *client) request(method, body, more string) []byte {
	return c.requestTo("/mcp", method, body, more)
}

func (c *client) requestTo(path, method, body, more string) []byte {
	accept := "application/json, text/event-stream"
	if method == "GET" {
		accept = "text/event-stream"
	}
	version := "2025-11-25"
	if c.target.era == modern {
		version = "2026-07-28"
	}
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\nMcp-Protocol-Version: %s\r\n%s", method, path, c.target.proc.addr, accept, version, more)
	if c.target.key != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", c.target.key)
	}
	if c.session != "" {
		b = fmt.Appendf(b, "Mcp-Session-Id: %s\r\n", c.session)
	}
	if body != "" {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return fmt.Appendf(b, "\r\n%s", body)
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

// number stands for the number of a call in prepared bytes, so that they are of one length.
const number = "########"

// caller makes calls of one scenario, one after the other.
type caller struct {
	*client
	scenario *scenario
	request  []byte
	at       []int // where the number stands in it
	last     int
}

func newCaller(c *client, s *scenario) *caller {
	params, headers := strings.Replace(s.params, "PREFIX", c.target.prefix, 1), ""
	if c.target.era == modern {
		params = strings.Replace(params, "{", modernMeta, 1)
		params = strings.Replace(params, ",}", "}", 1)
		headers = "Mcp-Method: " + s.method + "\r\n"
		if s.tool != "" {
			headers += "Mcp-Name: " + c.target.prefix + s.tool + "\r\n"
		}
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, number, s.method, params)
	w := &caller{client: c, scenario: s, request: c.request("POST", body, headers), last: 10_000_000}
	if s.flat != "" {
		w.request = c.requestTo(flatPath+s.tool+"/call", "POST", s.flat, "")
	}
	for at := range w.request {
		if bytes.HasPrefix(w.request[at:], []byte(number)) {
			w.at = append(w.at, at)
		}
	}
	return w
}

// modernMeta is what the params of a modern request begin with.
const modernMeta = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}},`

// errWrong is an answer that came, but is not the right one.
var errWrong = errors.New("wrong answer")

// call makes one call and checks its answer. After another error than errWrong there will be none.
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
	head := body[:min(len(body), 128)]
	if c.scenario.flat != "" {
		if !c.scenario.good(body, n) {
			return fmt.Errorf("%w from the flat proxy to %s: %.200s", errWrong, c.scenario.name, body)
		}
		return nil
	}
	if c.target.era == modern && !bytes.Contains(body, []byte(`"resultType":"complete"`)) {
		return fmt.Errorf("%w from %s to %s: no resultType in %.200s", errWrong, c.target.name, c.scenario.name, body)
	}
	if !bytes.Contains(head, append([]byte(`"id":`), n...)) || !bytes.Contains(head, []byte(`"result":`)) || !c.scenario.good(body, n) {
		return fmt.Errorf("%w from %s to %s: %.200s", errWrong, c.target.name, c.scenario.name, body)
	}
	return nil
}
