package mcp

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
)

// The answer to a request is the last of it: many clients have one id for all they ask.

func TestAnsweredRequestsIdCanBeUsedAgainOverHTTP(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	for range 300 {
		resp := f.post(t, `{"id":1,"method":"progress"}`, h)
		events := NewEvents(resp.Body, 1000)
		for _, want := range []string{"notifications/progress", `{"jsonrpc":"2.0","id":1,"result":{"done":true}}`} {
			if ev, err := events.Next(); err != nil || !strings.Contains(string(ev.Data), want) {
				t.Fatalf("got HTTP %d, %s, %v", resp.StatusCode, ev.Data, err)
			}
		}
		resp.Body.Close() // the end of the stream is not waited for
	}
}

func TestAnsweredRequestsIdCanBeUsedAgainOnAPipe(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(t.Context(), in, out, NewSessions(nil), testEntry("me"), nil) }()
	lines := bufio.NewScanner(receive)
	for range 3000 {
		fmt.Fprintln(send, `{"id":1,"method":"echo","params":{"_meta":`+goodMeta+`}}`)
		if !lines.Scan() || !strings.Contains(lines.Text(), `"result"`) {
			t.Fatalf("got %s", lines.Text())
		}
	}
	send.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
