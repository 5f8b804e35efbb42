package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// TestAddAndDoctorSayWhoHasToSignIn goes from a server that nobody has signed in to, to one that can be listed.
func TestAddAndDoctorSayWhoHasToSignIn(t *testing.T) {
	w := newWorld(t)
	as := authserver.New(t)
	as.Set(func() { as.Next = http.HandlerFunc(oneTool) })
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\n")
	code, out, errs := w.run(t, "add", "notes", as.MCP)
	if code != 0 || !strings.Contains(out+errs, "run: toolfit login notes") || !strings.Contains(out+errs, "openssl rand -hex 32") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if text := read(t, "toolfit.yaml"); !strings.Contains(text, "oauth:") || !strings.Contains(text, "as: user") {
		t.Errorf("the file is\n%s", text)
	}
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `problem +server notes +nobody can sign in to servers: there is no key to encrypt the tokens with `+
		`→ set TOOLFIT_SECRET_KEY and restart; make one: openssl rand -hex 32`)
	w.vars["TOOLFIT_SECRET_KEY"] = "a key for the tests of sign-ins"
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `warning +server notes +needs sign-in → run: toolfit login notes`)

	w.connect(t, as, "notes", "local")
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `ok +server notes +1 tool, listed in \S+`)
	if strings.Contains(out, "secret-access") {
		t.Error(out)
	}

	as.Set(func() { as.Fault = authserver.NoRegister })
	code, out, errs = w.run(t, "add", "hand", as.MCP)
	const want = "with the redirect URI http://127.0.0.1:0/connect/hand/callback, " +
		"and add to hand: oauth: {as: user, clientId: …, clientSecret: …}"
	if code != 0 || !strings.Contains(out+errs, want) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

func oneTool(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	w.Header().Set("Content-Type", "application/json")
	switch m.Method {
	case "initialize":
		_, _ = w.Write(mcp.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)))
	case "tools/list":
		_, _ = w.Write(mcp.AppendResult(nil, m.ID, []byte(`{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}`)))
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}
