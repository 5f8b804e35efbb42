package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestPickerAsksOnlyClientsThatDeclaredLinks has clients that never answer a question: one
// that they had not declared would hold up the call for good.
func TestPickerAsksOnlyClientsThatDeclaredLinks(t *testing.T) {
	a, _ := start(t, "publicURL: https://tools.example.com\nmcpServers: {cloud: {builtin: demo-cloud}}\n")
	a.Catalog.Ready(t.Context(), "default")
	for caps, asked := range map[string]bool{
		`{}`: false, `{"elicitation":{}}`: false, `{"elicitation":{"form":{}}}`: false, `{"sampling":{},"roots":{}}`: false,
		`{"elicitation":{"url":{}}}`: true,
	} {
		call := `"method":"tools/call","params":{"name":"cloud__envPick","arguments":{}`
		legacy := firstSaid(t, a,
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c",`+
				`"version":"1"},"capabilities":`+caps+`}}`,
			`{"jsonrpc":"2.0","id":2,`+call+`}}`)
		if got := strings.Contains(legacy, `"method":"elicitation/create"`); got != asked || !asked &&
			!strings.Contains(legacy, `"status":"waiting"`) {
			t.Errorf("legacy %s: %.300s", caps, legacy)
		}
		modern := firstSaid(t, a, `{"jsonrpc":"2.0","id":2,`+call+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":`+caps+`}}}`)
		if got := strings.Contains(modern, `"resultType":"input_required"`); got != asked || !asked &&
			!strings.Contains(modern, `"status":"waiting"`) {
			t.Errorf("modern %s: %.300s", caps, modern)
		}
	}
}

func TestUnknownToolOverMCPIsAnsweredWithTheNearest(t *testing.T) {
	a, _ := start(t, "mcpServers: {shop: {builtin: demo-shop}}\nprofiles: {default: {budget: 6500}}\n")
	a.Catalog.Ready(t.Context(), "default")
	for asked, want := range map[string]string{
		"shop__list_order": "did you mean shop__list_orders", "get_order": "did you mean shop__get_order", "orders_list": "shop__list_orders",
		"fetch_results": "did you mean fetch_result",
	} {
		for era, said := range map[string]string{
			"legacy": firstSaid(t, a,
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c",`+
					`"version":"1"},"capabilities":{}}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+asked+`"}}`),
			"modern": firstSaid(t, a, `{"jsonrpc":"2.0","id":2,"method":"tools/call",`+
				`"params":{"name":"`+asked+`","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`),
		} {
			if !strings.Contains(said, `"error":{"code":-32602,"message":"unknown tool: `+asked) || !strings.Contains(said, want) {
				t.Errorf("%s %s: %s", era, asked, said)
			}
		}
	}
}

// firstSaid is what a client on standard input and output hears first, after the answers to all
// but its last message.
func firstSaid(t *testing.T, a *App, messages ...string) string {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		err := a.ServeStdio(ctx, "", in, out)
		out.Close()
		ended <- err
	}()
	said := bufio.NewReader(receive)
	line := ""
	for _, m := range messages {
		fmt.Fprintln(send, m)
		line = ""
		for line == "" || strings.Contains(line, `"method":"notifications/`) { // a list may change meanwhile
			var err error
			if line, err = said.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	leave() // what it was asked is never answered
	send.Close()
	io.Copy(io.Discard, said)
	if err := <-ended; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	return line
}
