package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/mcp"
)

// evil is what a hostile server puts into every text: colors, a title, a line that is
// written over, a forged line, and text that is turned around or cannot be seen.
const evil = "\x1b[31m\x1b]0;owned\x07 good\rbad \u009b2J\ntoolfit: all is well \u202etxt.exe \u200b\U000e0041"

// evilServer has one tool, whose description, results and errors are evil.
func evilServer(t *testing.T) (url string) {
	t.Helper()
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	raw := strings.NewReplacer(`\u202e`, "\u202e", `\u200b`, "\u200b").Replace(string(quoted)) // as most servers write them
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Parse(body)
		if r.Method != http.MethodPost || err != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result := ""
		switch {
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"evil","version":"1"}}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"show","description":` + raw + `,"inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}`
		case m.Method == "tools/call" && strings.Contains(string(m.Params), `"fail"`):
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`, m.ID, raw)
			return
		case m.Method == "tools/call":
			result = `{"content":[{"type":"text","text":` + raw + `}]}`
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestNoCommandLetsTextOfServersCommandTheTerminal(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers: {evil: {url: '"+evilServer(t)+"'}}\n")
	for _, args := range []string{
		"tools", "describe evil__show", "describe evil__show --for openai", "search show", "prompt", "call evil__show", "call evil__fail", "servers", "doctor",
		"tools --json", "describe evil__show --json", "call evil__show --json", "call evil__fail --json", "search show --json", "prompt --json",
	} {
		_, out, errs := w.run(t, strings.Fields(args)...)
		if strings.ContainsFunc(out+errs, visible.Hidden) {
			t.Errorf("%s printed %q%q", args, out, errs)
		}
		for line := range strings.Lines(errs) {
			if strings.HasPrefix(line, "toolfit: all is well") {
				t.Errorf("%s printed a forged line: %s", args, errs)
			}
		}
		if strings.HasSuffix(args, "--json") && !strings.Contains(args, "fail") && !json.Valid([]byte(out)) {
			t.Errorf("%s printed no JSON: %s", args, out)
		}
	}
}

func TestNothingIsLostInJSONAndWithRaw(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers: {evil: {url: '"+evilServer(t)+"'}}\n")
	code, out, _ := w.run(t, "call", "evil__show", "--json")
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil || answer.Result.Content[0].Text != evil {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
	if code, out, _ := w.run(t, "call", "evil__show", "--raw"); code != 0 || out != evil+"\n" {
		t.Errorf("exit code %d: %q", code, out)
	}
}

func TestTheProtocolOnStandardOutputIsNotTouched(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers: {evil: {url: '"+evilServer(t)+"'}}\n")
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"evil__show","arguments":{}}}
`
	var out, errs safeBuffer
	code := Run(t.Context(), []string{"stdio"},
		&Env{In: strings.NewReader(in), Out: &out, Err: &errs, Lookup: w.lookup, Home: w.home, Version: "test"})
	if code != 0 || !strings.Contains(out.String(), "\u202e") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
}
