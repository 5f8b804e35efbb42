package env_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

func TestClientsHearThatToolsHaveChanged(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.Run(t.Context(), fromClient, toClient) }()
	late := time.AfterFunc(patience, func() { toClient.Close() })
	defer late.Stop()
	lines := bufio.NewScanner(fromServer)
	hears := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("%s never came", want)
	}
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+hello+`}`)
	hears(`"serverInfo"`)
	if err := server.AddTool(env.Tool{Name: "late"}); err == nil {
		t.Error("a tool that cannot be called was taken")
	}
	if err := server.AddTool(env.NewTool("late", "", func(context.Context, struct{}) (any, error) { return "now", nil })); err != nil {
		t.Fatal(err)
	}
	hears("notifications/tools/list_changed")
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"late"}}`)
	hears(`"now"`)
	server.Changed()
	hears("notifications/prompts/list_changed")
	toServer.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Method") != "initialize" {
			t.Errorf("%s came while the client was greeting", r.Header.Get("Mcp-Method"))
		}
		server.ServeHTTP(w, r)
	}))
	defer web.Close()
	defer server.Close()
	c, err := env.Dial(t.Context(), web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var work sync.WaitGroup
	for i := range 20 {
		work.Go(func() {
			tool := env.NewTool(fmt.Sprint("tool", i), "", func(context.Context, struct{}) (any, error) { return "ok", nil })
			if err := server.AddTool(tool); err != nil {
				t.Error(err)
			}
			var text string
			if err := c.Call(t.Context(), tool.Name, struct{}{}, &text); err != nil || text != "ok" {
				t.Errorf("got %q, %v", text, err)
			}
			if _, err := c.CreateSession(t.Context(), env.SessionOptions{}); err != nil {
				t.Error(err)
			}
			if i == 10 {
				server.Close() // all are greeted again
			}
		})
	}
	work.Wait()
}
