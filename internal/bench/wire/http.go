package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// HTTP is one client over Streamable HTTP: one connection with at most one request in flight. It
// writes prepared bytes and parses as little as it can, to leave the machine to what is measured.
type HTTP struct {
	era     Era
	u       *url.URL
	key     string
	conn    net.Conn
	in      *bufio.Reader
	session string
	version string
	last    int64
	msg     []byte
	out     []byte
	body    bytes.Buffer
	timeout time.Duration
}

// DialHTTP makes a client that is ready for calls: with a session in the legacy era.
func DialHTTP(address string, era Era, key string, timeout time.Duration) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := &HTTP{era: era, u: u, key: key, timeout: timeout}
	if era == Modern {
		c.version = modernVersion
		return c, nil
	}
	answer, header, err := c.post([]byte(initialize), "", "")
	if err != nil {
		c.drop()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	if c.version, err = agreed(answer); err != nil {
		c.Close()
		return nil, err
	}
	c.session = header.Get("Mcp-Session-Id")
	if _, _, err = c.post([]byte(initialized), "", ""); err != nil {
		c.Close()
		return nil, fmt.Errorf("initialized: %w", err)
	}
	return c, nil
}

// agreed is the protocol version in the answer to initialize.
func agreed(answer []byte) (string, error) {
	var r struct {
		Result struct{ ProtocolVersion string }
		Error  json.RawMessage
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return "", fmt.Errorf("initialize: %w", err)
	}
	if r.Result.ProtocolVersion == "" {
		return "", fmt.Errorf("initialize: %.200s", answer)
	}
	return r.Result.ProtocolVersion, nil
}

// Close ends the session and the connection.
func (c *HTTP) Close() {
	if c.conn != nil && c.session != "" {
		c.conn.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.conn.Write(c.head(nil, http.MethodDelete, "", "", 0)); err == nil {
			http.ReadResponse(c.in, nil) // what it says does not matter
		}
	}
	c.drop()
}

// drop closes the connection. The next call makes another.
func (c *HTTP) drop() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// Call sends a request and returns the response message, which is valid until the next call.
func (c *HTTP) Call(method, tool string, params []byte) ([]byte, error) {
	c.last++
	c.msg = request(c.msg[:0], c.era, c.last, method, params)
	answer, _, err := c.post(c.msg, method, tool)
	if err == nil && answer == nil {
		err = errors.New("no response message")
	}
	return answer, err
}

// head is the first line and the headers of a request.
func (c *HTTP) head(dst []byte, verb, method, tool string, length int) []byte {
	line := func(parts ...string) {
		for _, part := range parts {
			dst = append(dst, part...)
		}
		dst = append(dst, "\r\n"...)
	}
	line(verb, " ", c.u.RequestURI(), " HTTP/1.1")
	line("Host: ", c.u.Host)
	if c.key != "" {
		line("Authorization: Bearer ", c.key)
	}
	if c.session != "" {
		line("Mcp-Session-Id: ", c.session)
	}
	if c.version != "" {
		line("Mcp-Protocol-Version: ", c.version)
	}
	if verb == http.MethodGet {
		line("Accept: text/event-stream")
		return append(dst, "\r\n"...)
	}
	if c.era == Modern {
		line("Mcp-Method: ", method)
		if tool != "" {
			line("Mcp-Name: ", tool)
		}
	}
	line("Accept: application/json, text/event-stream")
	line("Content-Type: application/json")
	line("Content-Length: ", strconv.Itoa(length))
	return append(dst, "\r\n"...)
}

var posted = &http.Request{Method: http.MethodPost}

// post sends a message and returns the response message, nil for an accepted notification.
func (c *HTTP) post(msg []byte, method, tool string) ([]byte, http.Header, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.u.Host, c.timeout)
		if err != nil {
			return nil, nil, err
		}
		c.conn, c.in = conn, bufio.NewReaderSize(conn, 32<<10)
	}
	c.conn.SetDeadline(time.Now().Add(c.timeout)) // a dead connection shows in its use
	c.out = append(c.head(c.out[:0], http.MethodPost, method, tool, len(msg)), msg...)
	if _, err := c.conn.Write(c.out); err != nil {
		c.drop()
		return nil, nil, err
	}
	resp, err := http.ReadResponse(c.in, posted)
	if err != nil {
		c.drop()
		return nil, nil, err
	}
	c.body.Reset()
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if stream && resp.StatusCode == http.StatusOK {
		err = c.readEvents(resp.Body)
	} else {
		_, err = c.body.ReadFrom(resp.Body)
	}
	if err != nil || resp.Close {
		c.drop()
	}
	switch {
	case err != nil:
		return nil, nil, err
	case resp.StatusCode == http.StatusOK:
		return c.body.Bytes(), resp.Header, nil
	case resp.StatusCode/100 == 2:
		return nil, resp.Header, nil
	case isResponse(c.body.Bytes()): // the modern era has a status for errors, too
		return c.body.Bytes(), resp.Header, nil
	}
	return nil, nil, fmt.Errorf("http %d: %.200s", resp.StatusCode, c.body.Bytes())
}

// readEvents reads the response message of an event stream, and then its end: a server that leaves it
// open costs a new connection.
func (c *HTTP) readEvents(body io.Reader) error {
	events := newEvents(body)
	for {
		_, data, err := events.next()
		if err != nil {
			return fmt.Errorf("event stream without a response: %w", err)
		}
		if isResponse(data) {
			c.body.Write(data)
			break
		}
	}
	c.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := io.Copy(io.Discard, events.in); err != nil {
		c.drop()
	}
	return nil
}

func isResponse(m []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(m), []byte("{")) && (bytes.Contains(m, []byte(`"result"`)) || bytes.Contains(m, []byte(`"error"`)))
}

// Listen opens the session's stream on a connection of its own, as clients made with an SDK do. It
// returns nil where the server offers none.
func (c *HTTP) Listen() (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", c.u.Host, c.timeout)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(c.head(nil, http.MethodGet, "", "", 0)); err != nil {
		conn.Close()
		return nil, err
	}
	// Several servers send no header before the first event: a silent, open stream counts as accepted.
	conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	first := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(conn, first)
	conn.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) || err == nil && bytes.HasSuffix(first, []byte("200")) {
		return conn, nil
	}
	conn.Close()
	return nil, nil
}
