package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// scriptWorld has a server of each era that counts what it gets, and profiles in which scripts run.
type scriptWorld struct {
	legacy, modern *heldServer
	path           string // of the configuration
}

// newScriptWorld writes the configuration. Store "" is a file beside it; more is added.
func newScriptWorld(t *testing.T, store, more string) *scriptWorld {
	t.Helper()
	w := &scriptWorld{legacy: newHeldServer(t, false), modern: newHeldServer(t, true)}
	yaml := lines("mcpServers:", "  legacy: {url: "+w.legacy.URL+"}", "  modern: {url: "+w.modern.URL+"}", "detach: 1s")
	if store != "" {
		yaml += "store: " + store + "\n"
	}
	if !strings.Contains(more, "profiles:") {
		yaml += "profiles: {default: {code: on}}\n"
	}
	w.path = write(t, yaml+more)
	t.Setenv("TOOLFIT_SECRET_KEY", replicaKey)
	return w
}

// gateway starts a gateway that knows the tools.
func (w *scriptWorld) gateway(t *testing.T) *running {
	t.Helper()
	r, _ := runChild(t, w.path)
	knowsTools(t, r.url)
	return r
}

func knowsTools(t *testing.T, url string) {
	t.Helper()
	c := dialScripts(t, url)
	eventually(t, "the tools are listed", func() bool {
		list, err := c.request("tools/list", "{}")
		return err == nil && strings.Contains(list, "legacy__hold") && strings.Contains(list, "modern__hold")
	})
}

// saw is how often a call came to either server.
func (w *scriptWorld) saw(what string) int { return w.legacy.saw(what) + w.modern.saw(what) }

// let lets the calls of that name end.
func (w *scriptWorld) let(n string) {
	w.legacy.let(n)
	w.modern.let(n)
}

func dialScripts(t *testing.T, url string) *httpClient {
	t.Helper()
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scriptArguments are those of run_script.
func scriptArguments(code string, input any) string {
	out, _ := json.Marshal(map[string]any{"code": code, "input": input}) // plain values
	return string(out)
}

// runScript runs one as a legacy client and returns what came back, an error of the protocol too.
func runScript(c *httpClient, code string, input any) string {
	result, err := c.request("tools/call", `{"name":"run_script","arguments":`+scriptArguments(code, input)+`}`)
	if err != nil {
		return err.Error()
	}
	return result
}

// saidBy is the text of a result.
func saidBy(t *testing.T, result string) string {
	t.Helper()
	var m struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(result), &m); err != nil || len(m.Content) == 0 {
		t.Fatalf("no text: %s", result)
	}
	return m.Content[0].Text
}

// childrenOf are the processes that a gateway has started.
func childrenOf(r *running) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.Process.Pid))
	for _, path := range lists {
		list, _ := os.ReadFile(path)
		for _, field := range strings.Fields(string(list)) {
			id, _ := strconv.Atoi(field)
			pids = append(pids, id)
		}
	}
	return pids
}

// TestDigitsSurviveScripts: an integer beyond 2^53, from a server into a script and back, as structured content and as JSON in a text.
func TestDigitsSurviveScripts(t *testing.T) {
	server := newDigitServer(t)
	path := write(t, lines("mcpServers:", "  digits: {url: "+server.URL+"}", "profiles: {default: {code: on}}"))
	r := run(t, path)
	c := dialScripts(t, r.url)
	for _, kind := range []string{"structured", "text"} {
		code := `const { id } = await digits.` + kind + `({ id: input.id }); const again = await digits.` + kind + `({ id: id });
			console.log(id, typeof id); return { id: again.id, next: again.id + 1n, list: [id] }`
		result, err := c.request("tools/call", `{"name":"run_script","arguments":{"code":`+strconv.Quote(code)+`,"input":{"id":`+bigInteger+`}}}`)
		want := `"structuredContent":{"id":` + bigInteger + `,"next":9007199254740994,"list":[` + bigInteger + `]}`
		if err != nil || !strings.Contains(result, want) || !strings.Contains(result, bigInteger+" bigint") {
			t.Errorf("%s: %s, %v", kind, result, err)
		}
	}
	if got := server.got(); len(got) != 4 || strings.Join(got, "") != strings.Repeat(bigInteger, 4) {
		t.Errorf("the server got %v", got)
	}
}

// postgresOrFile runs a test on each kind of store. Without -long PostgreSQL is left out where short is true.
func postgresOrFile(t *testing.T, short bool, test func(t *testing.T, store string)) {
	t.Run("SQLite", func(t *testing.T) { test(t, "") })
	t.Run("PostgreSQL", func(t *testing.T) {
		if short && !*longCalls {
			t.Skip("with -long only")
		}
		test(t, testparts.NeedPostgres(t).Schema(t))
	})
}
