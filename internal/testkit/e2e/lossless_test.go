package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// rawHTTP is the raw server over Streamable HTTP.
func rawHTTP(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		grown := false
		reply, _ := answer("odd", body, &grown)
		if reply == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, reply)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestNothingIsLostOnTheWay(t *testing.T) {
	upstreams := map[string]func(*testing.T) string{
		"stdio server": func(*testing.T) string { return fake("odd") },
		"http server":  func(t *testing.T) string { return `{"url":"` + rawHTTP(t) + `"}` },
	}
	clients := map[string]func(*testing.T, string) rawClient{
		"stdio client": func(t *testing.T, path string) rawClient { return dialPipe(t, path) },
		"stdio client through the running gateway": func(t *testing.T, path string) rawClient {
			run(t, path)
			return dialPipe(t, path)
		},
		"http client": func(t *testing.T, path string) rawClient {
			c, err := dialRaw(serve(t, path).url+"/mcp", "")
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
	}
	for upstream, makeServer := range upstreams {
		for client, dial := range clients {
			t.Run(upstream+", "+client, func(t *testing.T) {
				path := write(t, lines("mcpServers:", "  raw: "+makeServer(t)))
				checkLossless(t, dial(t, path))
			})
		}
	}
}

// checkLossless compares bytes on both sides. Only the tool's name may differ, and there is a tool of ours.
func checkLossless(t *testing.T, c rawClient) {
	t.Helper()
	list, err := c.request("tools/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	// tasky needs a task, which we follow for the client. What else stands in execution goes through.
	tasky := strings.NewReplacer(`"tasky"`, `"raw__tasky"`, "required", "optional").Replace(taskTool)
	want := `{"tools":[` + strings.Replace(oddTool, `"name":"odd"`, `"name":"raw__odd"`, 1) + `,` + tasky + `,{"name":"fetch_result",`
	if !strings.HasPrefix(list, want) || strings.Count(list, `"inputSchema"`) != 3 {
		t.Errorf("the list differs:\n got %s\nwant %s", list, want)
	}
	const params = `{"later":{"b":1,"a":1.0},"arguments":` + oddArguments +
		`,"_meta":{"z": 18446744073709551615,"a":[]},"name":"NAME","task-like":null}`
	result, err := c.request("tools/call", strings.Replace(params, "NAME", "raw__odd", 1))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(oddResult, "%s", strings.Replace(params, "NAME", "odd", 1), 1); result != want {
		t.Errorf("the result, or the params inside it, differ:\n got %s\nwant %s", result, want)
	}
}
