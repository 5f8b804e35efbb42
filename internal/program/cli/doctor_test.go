package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/program/cli/doctor"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// wants checks that each expression matches a line of the report.
func wants(t *testing.T, report string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !regexp.MustCompile("(?m)^" + line + "$").MatchString(report) {
			t.Errorf("no line is like %q in\n%s", line, report)
		}
	}
}

func TestDoctorFindsNothingWrong(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\nmcpServers: {shop: {builtin: demo-shop}, off: {command: x, disabled: true}}\n")
	code, out, errs := w.run(t, "doctor")
	if code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	wants(t, out,
		`ok +configuration +toolfit.yaml: 2 servers, 1 profile`, `ok +store +.*toolfit.db will be created on the first start`, `ok +address +127.0.0.1:\d+ is free`,
		`ok +access +no keys: .*`, `ok +server shop +8 tools, listed in \S+`, `ok +server off +is disabled`, `ok +clock +20.*`)
	if exists("toolfit.db") {
		t.Error("the doctor made a store")
	}
}

func TestDoctorNamesEveryProblemOfTheFile(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers:\n  a: {comand: x}\nlisten: nowhere\n")
	code, out, _ := w.run(t, "doctor")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	wants(t, out, `problem +configuration +toolfit.yaml:2: mcpServers.a.comand: unknown key; did you mean "command"\?`,
		`problem +configuration +toolfit.yaml:3: listen: expected host:port, such as 127.0.0.1:8420`)
	if err := os.Remove("toolfit.yaml"); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := w.run(t, "doctor"); code != 1 || !strings.Contains(out, "there is no toolfit.yaml here → create one with") {
		t.Errorf("without a file: %d %s", code, out)
	}
}

func TestDoctorSaysWhyServersDoNotWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	w := newWorld(t)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	put(t, "toolfit.yaml", `listen: 127.0.0.1:0
mcpServers:
  gone: {command: no-such-command}
  node: {command: uvx-none, args: [x]}
  fails: {command: sh, args: [-c, "echo the token is wrong >&2; exit 3"]}
  nowhere: {command: sh, cwd: none}
  web: {url: "http://127.0.0.1:1/mcp"}
  other: {url: "`+empty.URL+`"}
  shop: {builtin: demo-shop}
`)
	code, out, _ := w.run(t, "doctor")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	wants(t, out,
		`problem +server gone +command "no-such-command" does not exist → install it, or correct the command of gone; .*`,
		`problem +server fails +.*the token is wrong → .+`,
		`problem +server nowhere +folder .*none does not exist → create it, or correct cwd of nowhere`,
		`problem +server web +.*refused.* → .+`,
		`problem +server other +.* → .+`,
		`ok +server shop +8 tools, .*`)
}

func TestDoctorSaysWhatAServerSaidThatTakesTooLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\nmcpServers: {mute: {command: sh, args: [-c, 'echo still starting >&2; exec sleep 600']}}\n")
	for limit := time.Second; ; limit *= 2 { // a busy machine may need longer to start a shell
		code, out, _ := w.run(t, "doctor", "--timeout", limit.String())
		if code == 1 && strings.Contains(out, "it said: still starting") || limit > patience {
			wants(t, out, `problem +server mute +did not list its tools within `+limit.String()+`; it said: still starting → .+`)
			return
		}
	}
}

func TestDoctorLooksWhoAnswersAtTheAddress(t *testing.T) {
	w := newWorld(t)
	put(t, "own.yaml", "store: own.db\nmcpServers: {shop: {builtin: demo-shop}}\n")
	cfg, err := config.Load("own.yaml", w.lookup)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ours, other := httptest.NewServer(a.Handler()), httptest.NewServer(http.NotFoundHandler())
	defer ours.Close()
	defer other.Close()
	put(t, "toolfit.yaml", "listen: "+ours.Listener.Addr().String()+"\n")
	_, out, _ := w.run(t, "doctor")
	wants(t, out, `ok +address +a gateway answers on \S+`)
	put(t, "toolfit.yaml", "listen: "+other.Listener.Addr().String()+"\n")
	code, out, _ := w.run(t, "doctor")
	wants(t, out, `problem +address +\S+ is taken by another program → .*`)
	put(t, "toolfit.yaml", "listen: 192.0.2.1:80\n")
	code2, out, _ := w.run(t, "doctor")
	wants(t, out, `problem +address +cannot listen on 192.0.2.1:80: .* → .*`)
	if code != 1 || code2 != 1 {
		t.Errorf("exit codes %d, %d", code, code2)
	}
}

func TestDoctorLooksAtTheStore(t *testing.T) {
	w := newWorld(t)
	const listen = "listen: 127.0.0.1:0\n"
	put(t, "toolfit.yaml", listen+"store: none/t.db\n")
	code, out, _ := w.run(t, "doctor")
	wants(t, out, `problem +store +folder none does not exist → create the folder, .*`)
	put(t, "toolfit.yaml", listen+"store: t.db\n")
	put(t, "t.db", "this is no database, it is a text that is long enough to be looked at\n")
	code2, out, _ := w.run(t, "doctor")
	wants(t, out, `problem +store +.*t.db is not a database.* → .*`)
	if code != 1 || code2 != 1 {
		t.Errorf("exit codes %d, %d", code, code2)
	}
	if err := os.Remove("t.db"); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), "t.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	late := time.Now().Add(time.Hour)
	appendCalls(t, st, callAt(late, 1, "shop"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, _ = w.run(t, "doctor")
	wants(t, out, `ok +store +.*t.db can be read and written, \d+ KB`,
		`warning +clock +the newest record is from .*, which is in the future → .*`)
	if code != 0 {
		t.Errorf("a warning is no problem: %d", code)
	}
}

func TestDoctorLooksWhoCouldComeIn(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 0.0.0.0:0\nstore: t.db\n")
	code, out, _ := w.run(t, "doctor")
	wants(t, out, `problem +access +0.0.0.0:0 can be reached from other machines, and there are no keys → .*`)
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\nhosts: [a.b]\nstore: t.db\n")
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `warning +access +hosts or proxies are set, but there are no keys.* → .*`)
	if code, _, errs := w.run(t, "keys", "create", "ci"); code != 0 {
		t.Fatal(errs)
	}
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `ok +access +1 key`)
	put(t, "toolfit.yaml", "listen: 0.0.0.0:0\nstore: t.db\n")
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `warning +access +0.0.0.0:0 can be reached .* → add its host names to hosts`)
}

func TestDoctorSpeaksJSON(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\nmcpServers: {gone: {command: no-such-command}}\n")
	code, out, _ := w.run(t, "doctor", "--json")
	var report struct {
		Findings []doctor.Finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
		t.Fatalf("%d, %v: %s", code, err, out)
	}
	for _, f := range report.Findings {
		if f.Subject == "server gone" && f.Status == doctor.Problem && f.Message != "" && f.Hint != "" {
			return
		}
	}
	t.Errorf("the problem is not in %+v", report.Findings)
}

func TestDoctorLooksAtServersOfTheStoreToo(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: 127.0.0.1:0\nstore: t.db\nmcpServers: {twice: {builtin: demo-shop}}\n")
	st, err := store.Open(t.Context(), "t.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range map[tool.ServerID]string{
		"late": `{"name": "late", "builtin": "demo-cloud"}`, "twice": `{"name": "twice", "command": "x"}`, "bad": `{"name": "bad", "comand": "x"}`,
	} {
		if err := st.SaveServerConfig(t.Context(), id, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, _ := w.run(t, "doctor")
	wants(t, out, `ok +server late +\d+ tools?, .*`, `ok +server twice +8 tools, .*`,
		`warning +server twice +is in the file and in the store; .*`, `problem +server bad +.*comand.*`)
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestDoctorChecksTheToolsOfAgents(t *testing.T) {
	w := newWorld(t)
	const head = "listen: 127.0.0.1:0\nstore: t.db\nmodels: {m: {url: 'http://127.0.0.1:1/v1'}}\nprofiles: {default: {}, bare: {names: bare}}\n"
	put(t, "toolfit.yaml", head+`mcpServers: {shop: {builtin: demo-shop}}
agents:
  all: {}
  some: {available_tools: [shop__list_orders, get_order, "shop__find*"]}
  short: {profile: bare, available_tools: [list_orders, shop__get_order]}
  quiet: {available_tools: [nothing], capabilities: {enable_tool_calling: false}}
  typo: {available_tools: [shop__lst_orders, get_order, "shop__refund*"]}
  none: {available_tools: [list_ordres]}
`)
	st, err := store.Open(t.Context(), "t.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, body := range map[string]string{"kept": `{"available_tools":["shop__gone","shop__get_order"]}`, "broken": `{"model":"gone"}`, "all": `{}`} {
		if _, err := st.SaveAgent(t.Context(), store.Document{ID: id, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, _ := w.run(t, "doctor")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	wants(t, out,
		`ok +agent all +8 tools of profile default`, `ok +agent some +\d tools of profile default`, `ok +agent short +2 tools of profile bare`, `ok +agent quiet +calls no tools`,
		`warning +agent typo +available_tools: profile default has no tool shop__lst_orders → did you mean shop__list_orders.*`,
		`warning +agent typo +available_tools: profile default has no tool shop__refund\* → list the tools with: toolfit tools --profile default`,
		`problem +agent none +available_tools: profile default has no tool list_ordres → did you mean shop__list_orders.*`,
		`warning +agent kept +available_tools: profile default has no tool shop__gone → .+`,
		`problem +agent broken +.*there is no model "gone".*`, `warning +agent all +is in the file and in the store; the file wins → .+`)
	if strings.Contains(out, "has no tool get_order") {
		t.Error(out)
	}

	put(t, "toolfit.yaml", head+"mcpServers: {shop: {builtin: demo-shop}, gone: {command: no-such-command}}\nagents: {a: {available_tools: [gone__read]}}\n")
	_, out, _ = w.run(t, "doctor")
	wants(t, out, `warning +agent a +available_tools: profile default has no tool gone__read, unless it belongs to a server that did not list its tools: gone → .+`)
}
