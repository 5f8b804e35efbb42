package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// rawClient speaks MCP in bytes written by hand: what it gets is what was on the wire.
type rawClient interface {
	request(method, params string) (result string, err error)
}

const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`

// resultOf takes the result out of an answer without changing a byte of it.
func resultOf(message []byte) (string, error) {
	var m struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(message, &m); err != nil {
		return "", fmt.Errorf("answer %q: %w", message, err)
	}
	if m.Error != nil {
		return "", errors.New(string(m.Error))
	}
	return string(m.Result), nil
}

// httpClient is a session over HTTP.
type httpClient struct {
	http                  *http.Client
	url, session, keyText string
	id                    int // its requests have the next one; where clients share a session, each has its own
}

// dialRaw opens a session at the URL of an MCP endpoint. Key "" sends none.
func dialRaw(url, key string) (*httpClient, error) {
	c := &httpClient{http: plainHTTP, url: url, keyText: key}
	_, err := c.request("initialize", hello)
	return c, err
}

func (c *httpClient) request(method, params string) (string, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, 1+c.id, method, params)
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.keyText != "" {
		req.Header.Set("Authorization", "Bearer "+c.keyText)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("HTTP %d: %s", resp.StatusCode, bytes.TrimSpace(data))
	}
	if method == "initialize" {
		c.session = resp.Header.Get("Mcp-Session-Id")
	}
	if _, event, ok := bytes.Cut(data, []byte("data: ")); ok && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		data, _, _ = bytes.Cut(event, []byte("\n"))
	}
	return resultOf(data)
}

// pipeClient is a session with toolfit stdio.
type pipeClient struct {
	in  io.Writer
	out *bufio.Reader
}

func dialPipe(t *testing.T, path string) *pipeClient {
	t.Helper()
	cmd := exec.Command(program(t), "stdio", "--config", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("toolfit stdio: %v", err)
		}
	})
	c := &pipeClient{in: in, out: bufio.NewReader(out)}
	if _, err := c.request("initialize", hello); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *pipeClient) request(method, params string) (string, error) {
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return "", err
		}
		if !bytes.Contains(line, []byte(`"method"`)) || bytes.Contains(line, []byte(`"result"`)) { // not a notification
			return resultOf(line)
		}
	}
}
