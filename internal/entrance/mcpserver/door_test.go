package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// door is a real front, with clients of both eras before it.
type door struct {
	*httptest.Server
	t      *testing.T
	lastID atomic.Int64
}

// newDoor serves each caller by its own entry.
func newDoor(t *testing.T, entry func(who string) mcp.Entry, ended func(*mcp.Session)) *door {
	sessions := mcp.NewSessions(&mcp.SessionsOptions{Ended: ended})
	front := mcp.NewFront(sessions, nil)
	d := &door{t: t, Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		front.Serve(w, r, entry(r.Header.Get("Test-Caller")))
	}))}
	t.Cleanup(func() {
		sessions.Close()
		d.Server.CloseClientConnections()
		d.Server.Close()
	})
	return d
}

// post sends a message; the caller closes the body of the answer.
func (d *door) post(ctx context.Context, who, message string, header map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Test-Caller", who)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	return d.Client().Do(req)
}

// read calls f with each message of an answer until it says that it was the last.
func read(resp *http.Response, f func(m mcp.Message) (last bool)) error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var raw json.RawMessage
		if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil {
			return fmt.Errorf("HTTP %s: %w", resp.Status, err)
		}
		m, err := mcp.Parse(raw)
		if err == nil {
			f(m)
		}
		return err
	}
	for events := mcp.NewEvents(resp.Body, 1<<20); ; {
		ev, err := events.Next()
		if err != nil {
			return err
		}
		if len(ev.Data) == 0 {
			continue
		}
		m, err := mcp.Parse(bytes.Clone(ev.Data)) // it is overwritten by the next
		if err != nil || f(m) {
			return err
		}
	}
}

// answered is the result or the error of an answer.
func answered(m mcp.Message) (string, error) {
	if m.Error != nil {
		return "", mcp.ParseError(m.Error)
	}
	return string(m.Result), nil
}

func (d *door) request(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, d.lastID.Add(1), method, params)
}

// modern makes a request without a session.
func (d *door) modern(ctx context.Context, who, caps, method, params string) (result string, err error) {
	resp, err := d.modernStream(ctx, who, caps, method, params)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	failed := read(resp, func(m mcp.Message) bool {
		if m.Method == "" {
			result, err = answered(m)
		}
		return m.Method == ""
	})
	return result, errors.Join(err, failed)
}

func (d *door) modernStream(ctx context.Context, who, caps, method, params string) (*http.Response, error) {
	const prefix = "io.modelcontextprotocol/"
	meta := fmt.Sprintf(`{"%sprotocolVersion":%q,"%sclientCapabilities":%s}`, prefix, mcp.ModernVersion, prefix, caps)
	all := mcp.With(json.RawMessage(params), "_meta", json.RawMessage(meta))
	header := map[string]string{"Mcp-Protocol-Version": mcp.ModernVersion, mcp.MethodHeader: method}
	for _, key := range []string{"name", "uri", "taskId"} {
		if name, _ := rawjson.String(rawjson.Get(all, key)); name != "" && mcp.NamedBy(method) == key {
			header[mcp.NameHeader] = mcp.EncodeHeader(name)
		}
	}
	return d.post(ctx, who, d.request(method, string(all)), header)
}

// session is a legacy client.
type session struct {
	door   *door
	who    string
	header map[string]string
	answer func(method string, params json.RawMessage) string // what it says to questions; nil: nothing

	mu   sync.Mutex
	news []mcp.Message // notifications
}

// open opens a session; caps are the client's capabilities.
func (d *door) open(who, version, caps string) *session {
	d.t.Helper()
	s := &session{door: d, who: who}
	params := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"test","version":"1"}}`, version, caps)
	resp, err := d.post(d.t.Context(), who, d.request("initialize", params), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	s.header = map[string]string{"Mcp-Session-Id": resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": version}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// send sends what gets no answer.
func (s *session) send(message string) {
	resp, err := s.door.post(s.door.t.Context(), s.who, message, s.header)
	if err == nil {
		resp.Body.Close()
	}
}

// listen hears the news of the session until the test ends.
func (s *session) listen() {
	req, _ := http.NewRequestWithContext(s.door.t.Context(), http.MethodGet, s.door.URL, nil)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Test-Caller", s.who)
	for name, value := range s.header {
		req.Header.Set(name, value)
	}
	resp, err := s.door.Client().Do(req)
	if err != nil {
		s.door.t.Error(err)
		return
	}
	go func() {
		defer resp.Body.Close()
		read(resp, func(m mcp.Message) bool { s.hear(m); return false })
	}()
}

func (s *session) hear(m mcp.Message) {
	if m.ID != nil && s.answer != nil {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, s.answer(m.Method, m.Params)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = append(s.news, m)
}

// heard are the notifications of a method, as text.
func (s *session) heard(method string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.news {
		if m.Method == method {
			all = append(all, string(m.Params))
		}
	}
	return all
}

// request makes a request, and answers what it is asked meanwhile.
func (s *session) request(ctx context.Context, method, params string) (result string, err error) {
	resp, err := s.door.post(ctx, s.who, s.door.request(method, params), s.header)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	failed := read(resp, func(m mcp.Message) bool {
		if m.Method != "" {
			s.hear(m)
			return false
		}
		result, err = answered(m)
		return true
	})
	return result, errors.Join(err, failed)
}

// soon waits until something is so.
func soon(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not soon: " + what)
		}
	}
}

// mustDelete is the request that ends a session.
func mustDelete(t *testing.T, s *session) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.door.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Test-Caller", s.who)
	for name, value := range s.header {
		req.Header.Set(name, value)
	}
	return req
}
