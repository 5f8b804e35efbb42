package e2e

import (
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// newKey creates a key as a user does.
func newKey(t *testing.T, path, name, profile, role string) string {
	t.Helper()
	cmd := exec.Command(program(t), "keys", "create", name, "--config", path, "--profile", profile, "--role", role)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("keys create: %v\n%s", err, errorOutput(err))
	}
	return strings.TrimSpace(string(out))
}

func TestWhoComesInOverHTTP(t *testing.T) {
	path := write(t, lines("mcpServers:", "  shop: {builtin: demo-shop}", "  cloud: {builtin: demo-cloud}",
		"profiles:", "  default: {servers: [shop, cloud]}", "  ops: {servers: [cloud]}"))
	caller := newKey(t, path, "agent", "default", "caller")
	viewer := newKey(t, path, "auditor", "default", "viewer")
	admin := newKey(t, path, "chief", "*", "admin")
	g := serve(t, path)

	for _, test := range []struct {
		rule, path, key, host, origin string
		want                          int
	}{
		{rule: "a caller uses its own profile", path: "/mcp", key: caller, want: 200},
		{rule: "a caller may name its own profile", path: "/mcp/default", key: caller, want: 200},
		{rule: "no key is refused once there are keys", path: "/mcp", want: 401},
		{rule: "a wrong key is refused", path: "/mcp", key: caller[:len(caller)-1] + "!", want: 401},
		{rule: "text that is no key is refused", path: "/mcp", key: "secret", want: 401},
		{rule: "another profile's path is forbidden", path: "/mcp/ops", key: caller, want: 403},
		{rule: "a caller learns nothing about which profiles there are", path: "/mcp/nobody", key: caller, want: 403},
		{rule: "an admin uses every profile", path: "/mcp/ops", key: admin, want: 200},
		{rule: "an unknown profile is not found", path: "/mcp/nobody", key: admin, want: 404},
		{rule: "a viewer may not call", path: "/mcp", key: viewer, want: 403},
		{rule: "a foreign Host is forbidden, key or not", path: "/mcp", key: admin, host: "evil.example", want: 403},
		{rule: "a foreign Origin is forbidden, key or not", path: "/mcp", key: admin, origin: "https://evil.example", want: 403},
		{rule: "a page of another port of this machine is forbidden, key or not", path: "/mcp", key: admin, origin: "http://localhost:3000",
			want: 403},
		{rule: "a page of ours may come in", path: "/mcp", key: admin, origin: "own", want: 200},
	} {
		t.Run(test.rule, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`
			req, err := http.NewRequest(http.MethodPost, g.url+test.path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = test.host
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"Origin": strings.Replace(test.origin, "own", g.url, 1), "Authorization": bearer(test.key),
			} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			resp, err := plainHTTP.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			said, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != test.want {
				t.Errorf("HTTP %d, want %d: %s", resp.StatusCode, test.want, said)
			}
			if test.key != "" && strings.Contains(string(said), test.key) {
				t.Errorf("the answer repeats the key: %s", said)
			}
		})
	}
}

func bearer(key string) string {
	if key == "" {
		return ""
	}
	return "Bearer " + key
}

func TestAProfileShowsAndCallsOnlyItsOwnTools(t *testing.T) {
	path := write(t, lines("mcpServers:", "  shop: {builtin: demo-shop}", "  cloud: {builtin: demo-cloud}",
		"profiles:", "  ops: {servers: [shop], tools: {deny: ['*list_orders']}}"))
	key := newKey(t, path, "ops", "ops", "caller")
	c, err := dialRaw(serve(t, path).url+"/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.request("tools/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(list, "shop__get_order") || strings.Contains(list, "shop__list_orders") || strings.Contains(list, "cloud__") {
		t.Errorf("the list is not the profile's: %s", list)
	}
	if result, err := c.request("tools/call", `{"name":"shop__list_orders","arguments":{}}`); err == nil {
		t.Errorf("a denied tool was called: %s", result)
	}
}

func TestListeningToOtherMachinesNeedsKeys(t *testing.T) {
	path := write(t, lines("mcpServers:", "  shop: {builtin: demo-shop}"))
	out, err := exec.Command(program(t), "serve", "--config", path, "--listen", "0.0.0.0:0").CombinedOutput()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 1 {
		t.Fatalf("it ended with %v: %s", err, out)
	}
	for _, want := range []string{"0.0.0.0:0 can be reached from other machines, and there are no keys", "toolfit keys create"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
}
