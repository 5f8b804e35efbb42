package restapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// mcp sends a message to the gateway as an MCP client.
func (g *gateway) mcp(t *testing.T, who, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", g.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.keys[who])
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func TestClientsAreListedToThoseWhoMayKnowThem(t *testing.T) {
	g := newGateway(t)
	hello := func(who, name string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1.0"}}}`, name)
		if status, answer := g.mcp(t, who, body, nil); status != 200 {
			t.Fatalf("HTTP %d: %s", status, answer)
		}
	}
	hello("ann", "cursor-vscode")
	hello("bob", "claude-code")
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop__list_orders","arguments":{},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"3"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "shop__list_orders"}
	if status, answer := g.mcp(t, "ann", body, modern); status != 200 {
		t.Fatalf("HTTP %d: %s", status, answer)
	}
	for who, want := range map[string]int{"ann": 2, "bob": 1, "eye": 3, "root": 3} {
		_, answer := g.ask(t, who, "GET", "/api/v1/clients", "")
		var list restapi.ClientList
		if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list.Clients) != want || list.Since.IsZero() {
			t.Errorf("%s: %v, %s", who, err, answer)
			continue
		}
		if last := list.Clients[0]; who == "ann" && (last.Name != "new" || last.Version != "3" || last.Era != "modern" || last.Calls != 1 || last.Who != "ann" || last.Profile != "orders") {
			t.Errorf("the last one: %+v", last)
		}
	}
}
