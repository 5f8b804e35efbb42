package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestABatchCountsAsItsMessages: an array must not carry a hundred calls for the price of one.
func TestABatchCountsAsItsMessages(t *testing.T) {
	h := host(t, "rate: {perKey: 1/h, burst: 6}\n")
	session := ""
	post := func(body string) (*http.Response, string) {
		r, err := http.NewRequest("POST", h.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.keys["ann"])
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	batch := func(n int) string {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, `,{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		}
		return "[" + b.String()[1:] + "]"
	}
	resp, text := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},` +
		`"clientInfo":{"name":"c","version":"1"}}}`)
	if session = resp.Header.Get("Mcp-Session-Id"); session == "" {
		t.Fatalf("no session: %s", text)
	}
	if resp, text := post(batch(3)); resp.StatusCode != http.StatusOK || strings.Count(text, `"result"`) != 3 {
		t.Fatalf("3 of the 5 that are left: %d %s", resp.StatusCode, text)
	}
	var refusal struct{ Error struct{ Code, Hint string } }
	resp, text = post(batch(3))
	if err := json.Unmarshal([]byte(text), &refusal); err != nil || resp.StatusCode != http.StatusTooManyRequests ||
		resp.Header.Get("Retry-After") == "" || refusal.Error.Code != "rate_limited" {
		t.Errorf("3 of the 2 that are left: %d %s", resp.StatusCode, text)
	}
	resp, text = post(batch(7))
	if err := json.Unmarshal([]byte(text), &refusal); err != nil || resp.StatusCode != http.StatusTooManyRequests ||
		!strings.Contains(refusal.Error.Hint, "at most 6") {
		t.Errorf("more than the burst: %d %s", resp.StatusCode, text)
	}
}

func TestAnOverlongContentLengthIsRefusedAtOnce(t *testing.T) {
	h := host(t, "recall: {}\n")
	for _, c := range []struct{ path, kind string }{
		{"/mcp", "application/json"},
		{"/mcp/default/env", "application/json"},
		{"/api/v1/tools/x__y/call", "application/json"},
		{"/api/v1/keys", "application/json"},
		{"/v1/chat/completions", "application/json"},
		{"/api/agent-retrieval/v1/kn/get_action_info", "application/json"},
		{"/sign-in", "application/x-www-form-urlencoded"},
		{"/settings", "application/x-www-form-urlencoded"},
	} {
		t.Run(c.path, func(t *testing.T) {
			conn, err := net.Dial("tcp", h.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(time.Minute)) // it waits for a body that never comes
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: "+
				"1000000000000\r\n\r\n",
				c.path, h.Listener.Addr(), h.keys["root"], c.kind)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				text, _ := io.ReadAll(resp.Body)
				t.Errorf("%d %.300s", resp.StatusCode, text)
			}
		})
	}
}
