package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
	"github.com/toolfit/toolfit/schema"
)

// fittedList is the answer of the tools route in a dialect.
type fittedList struct {
	Tools    []json.RawMessage `json:"tools"`
	SetAside []schema.Fitted   `json:"setAside"`
}

func getFitted(t *testing.T, url string, d schema.Dialect) fittedList {
	t.Helper()
	resp, err := http.Get(url + "/api/v1/tools?for=" + string(d))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d, %v: %.300s", resp.StatusCode, err, body)
	}
	var list fittedList
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEveryDialectCarriesTheToolsOfRealServers(t *testing.T) {
	path, _ := npmServers(t)
	g := serve(t, path)
	for d := range schema.Dialects() {
		list := getFitted(t, g.url, d)
		if len(list.SetAside) > 0 || len(list.Tools) < 30 {
			t.Errorf("%s: %d tools, set aside %v", d, len(list.Tools), list.SetAside)
		}
	}
}

func TestRealCloudbaseServer(t *testing.T) {
	node := testparts.Need(t)
	home := t.TempDir()
	path := write(t, lines("mcpServers:", "  tcb: "+entry(node.Script(filepath.Join("@cloudbase", "cloudbase-mcp", "dist", "cli.cjs")),
		"HOME", home, "CLOUDBASE_MCP_TELEMETRY_DISABLED", "true")))
	g := serve(t, path)
	for d := range schema.Dialects() {
		if list := getFitted(t, g.url, d); len(list.Tools) != 41 || len(list.SetAside) > 0 {
			t.Errorf("%s: %d tools, set aside %v", d, len(list.Tools), list.SetAside)
		}
	}
	c, err := dialRaw(g.url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.request("tools/call", `{"name":"tcb__queryEnv","arguments":{"action":"list"}}`)
	if err != nil || !strings.Contains(result, "AUTH_REQUIRED") || !strings.Contains(result, "next_step") {
		t.Errorf("an answer that asks for a login passes whole: %.400s, %v", result, err)
	}
}
