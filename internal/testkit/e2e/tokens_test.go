package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/idp"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// members is a gateway whose callers sign in. Everything it serves has one name, by whatever address.
const members = "https://tools.example.com"

// tokenConfig is its configuration, with servers of both eras behind it.
func tokenConfig(p *idp.Provider, store string, old, modern *heldServer, server *curious) string {
	return lines("store: "+store, "publicURL: "+members, "detach: 1s",
		"identity:", "- {issuer: "+p.URL+", scope: mcp:tools, map: [{groups: [platform], role: admin}, {groups: [eng], profile: default}]}",
		"mcpServers:", "  old: {url: "+old.URL+"}", "  new: {url: "+modern.URL+"}", "  cur: {url: "+server.url+"}", "  shop: {builtin: demo-shop}",
		"results:", `- {id: orders, tool: shop__list_orders, keep: "orders(id)"}`)
}

// guest is somebody with a token, and with a session if it is a legacy client.
type guest struct {
	*testing.T
	url, token, session string
}

// send sends a request, and returns its answer.
func (m *guest) send(method, path, body string, headers ...string) *http.Response {
	m.Helper()
	req, err := http.NewRequestWithContext(m.Context(), method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := plainStreams.Do(req)
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { resp.Body.Close() })
	return resp
}

// ask is send for an answer that is read: its status and text.
func (m *guest) ask(method, path, body string, headers ...string) (int, string) {
	m.Helper()
	resp := m.send(method, path, body, headers...)
	late := time.AfterFunc(5*time.Second, func() { resp.Body.Close() }) // a stream that must not have been given
	defer late.Stop()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		m.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// open begins a session.
func (m *guest) open() {
	m.Helper()
	resp := m.send("POST", "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+asking+`}`)
	m.session = resp.Header.Get("Mcp-Session-Id")
	if m.session == "" {
		text, _ := io.ReadAll(resp.Body)
		m.Fatalf("no session: %s %s", resp.Status, text)
	}
}

// legacy sends a request of the session.
func (m *guest) legacy(method, params string) (int, string) {
	m.Helper()
	return m.ask("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), "Mcp-Session-Id", m.session)
}

// modern sends a request of a client without sessions, that has tasks if it says so.
func (m *guest) modern(method, name, params string, tasks bool) (int, string) {
	m.Helper()
	meta := modernMeta
	if tasks {
		meta = strings.Replace(meta, `{"elicitation":{}}`, `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"_meta":%s,%s}}`, method, meta, params)
	headers := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return m.ask("POST", "/mcp", body, headers...)
}

var (
	refPattern = regexp.MustCompile(`r_[a-z2-9]+`)
	personID   = regexp.MustCompile(`u_\w+`)
)

// find is what a pattern finds in an answer that must have it.
func (m *guest) find(pattern *regexp.Regexp) func(status int, text string) string {
	return func(status int, text string) string {
		m.Helper()
		found := pattern.FindString(text)
		if found == "" {
			m.Fatalf("no %s in %d %s", pattern, status, text)
		}
		return found
	}
}

// handles are what one caller has that others could name.
type handles struct {
	session, ref, record      string
	waiting, task, modernTask string
	asks, interim             string // a waiting call that asks, and what a parked one says
	chat                      string
}

// makeHandles lets somebody begin all that can be begun.
func makeHandles(a *guest) (h handles) {
	a.Helper()
	a.open()
	h.session = a.session
	eventually(a.T, "the tools are listed", func() bool {
		_, list := a.legacy("tools/list", "{}")
		return strings.Contains(list, "old__hold") && strings.Contains(list, "new__hold") && strings.Contains(list, "cur__ask")
	})
	h.ref = a.find(refPattern)(a.legacy("tools/call", `{"name":"shop__list_orders","arguments":{"limit":2}}`))
	h.waiting = a.find(handlePattern)(a.legacy("tools/call", `{"name":"old__hold","arguments":{"n":"secret-waiting"}}`))
	h.task = a.find(handlePattern)(a.legacy("tools/call", `{"name":"old__hold","arguments":{"n":"secret-task"},"task":{}}`))
	h.modernTask = a.find(handlePattern)(a.modern("tools/call", "new__job", `"name":"new__job","arguments":{"n":"secret-modern"}`, true))
	h.asks = a.find(handlePattern)(a.modern("tools/call", "new__ask", `"name":"new__ask","arguments":{"n":"secret-asks","ms":1500}`, true))
	eventually(a.T, "it asks", func() bool {
		_, text := a.modern("tasks/get", h.asks, `"taskId":"`+h.asks+`"`, true)
		return strings.Contains(text, "input_required")
	})
	_, h.interim = a.modern("tools/call", "cur__ask", `"name":"cur__ask","arguments":{}`, false)
	if !strings.Contains(h.interim, "requestState") {
		a.Fatalf("it was not parked: %s", h.interim)
	}
	h.interim, _ = resultOf([]byte(h.interim))
	_, answer := a.ask("POST", "/api/v1/tools/cur__plain/call", `{}`)
	h.record = a.find(handlePattern)(0, answer)
	_, answer = a.ask("POST", "/api/v1/sessions", `{"title":"secret-chat"}`)
	h.chat = a.find(regexp.MustCompile(`ses_\w+`))(0, answer)
	return h
}

// answerWho answers what the servers of the tests ask.
const answerWho = `{"action":"accept","content":{"name":"eve"}}`

// tryAll tries all handles of somebody else: each is a status of HTTP and a text.
func tryAll(b *guest, h handles) map[string]func() (int, string) {
	inSession := func(method, body string, headers ...string) func() (int, string) {
		return func() (int, string) {
			return b.ask(method, "/mcp", body, append([]string{"Mcp-Session-Id", h.session}, headers...)...)
		}
	}
	rest := func(method, path, body string) func() (int, string) {
		return func() (int, string) { return b.ask(method, "/api/v1"+path, body) }
	}
	legacy := func(method, params string) func() (int, string) {
		return func() (int, string) { return b.legacy(method, params) }
	}
	modern := func(method, name, params string) func() (int, string) {
		return func() (int, string) { return b.modern(method, name, params, true) }
	}
	fetch := func(ref string) string { return `"name":"fetch_result","arguments":{"ref":"` + ref + `"}` }
	all := map[string]func() (int, string){
		"session: list":        inSession("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
		"session: subscribe":   inSession("POST", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://watched"}}`),
		"session: unsubscribe": inSession("POST", `{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"test://watched"}}`),
		"session: answer":      inSession("POST", `{"jsonrpc":"2.0","id":1,"result":`+answerWho+`}`),
		"session: cancel":      inSession("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
		"session: stream":      inSession("GET", ""),
		"session: resume":      inSession("GET", "", "Last-Event-Id", "1"),
		"session: end":         inSession("DELETE", ""),
		"result: legacy":       legacy("tools/call", `{`+fetch(h.ref)+`}`),
		"result: modern":       modern("tools/call", "fetch_result", fetch(h.ref)),
		"result: REST":         rest("GET", "/results/"+h.ref, ""),
		"result: try a rule":   rest("POST", "/results/"+h.ref+"/try", `{"keep":"orders"}`),
		"state":                modern("tools/call", "cur__ask", `"name":"cur__ask","arguments":{}`+answers(h.interim, answerWho)),
		"asks: update":         modern("tasks/update", h.asks, `"taskId":"`+h.asks+`","inputResponses":{"who":`+answerWho+`}`),
		"asks: REST":           rest("POST", "/calls/"+h.asks+"/answers", `{"answers":{"who":`+answerWho+`}}`),
		"record: REST":         rest("GET", "/calls/"+h.record, ""),
		"chat: read":           rest("GET", "/sessions/"+h.chat, ""),
		"chat: messages":       rest("GET", "/sessions/"+h.chat+"/messages", ""),
		"chat: rename":         rest("PATCH", "/sessions/"+h.chat, `{"title":"stolen"}`),
		"chat: stop":           rest("POST", "/sessions/"+h.chat+"/cancel", ""),
	}
	for name, id := range map[string]string{"waiting": h.waiting, "task": h.task, "modern task": h.modernTask, "asks": h.asks} {
		all[name+": fetch_result, legacy"] = legacy("tools/call", `{`+fetch(id)+`}`)
		all[name+": fetch_result, modern"] = modern("tools/call", "fetch_result", fetch(id))
		all[name+": read, REST"] = rest("GET", "/calls/"+id, "")
		all[name+": cancel, REST"] = rest("POST", "/calls/"+id+"/cancel", "")
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			all[name+": "+method+", legacy"] = legacy(method, `{"taskId":"`+id+`"}`)
		}
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			all[name+": "+method+", modern"] = modern(method, id, `"taskId":"`+id+`"`)
		}
	}
	return all
}

// isRefusal tells whether an answer says that there is no such thing, or that it is another's.
func isRefusal(status int, text string) bool {
	if status == http.StatusNotFound || status == http.StatusForbidden {
		return true
	}
	return (status == http.StatusOK || status == http.StatusBadRequest) &&
		(strings.Contains(text, `"error":{"code":-326`) || strings.Contains(text, `"isError":true`))
}

// tokenWorld is one with everything that the tests of tokens need.
type tokenWorld struct {
	*idp.Provider
	old, modern *heldServer
	server      *curious
}

func newTokenWorld(t *testing.T) *tokenWorld {
	return &tokenWorld{idp.New(t), newHeldServer(t, false), newHeldServer(t, true), newCurious(t)}
}

func (w *tokenWorld) config(store string) string {
	return tokenConfig(w.Provider, store, w.old, w.modern, w.server)
}

// as is somebody at an address. All have the same name and mail: these are given to others later.
func (w *tokenWorld) as(t *testing.T, url, sub string, changes ...any) *guest {
	claims := w.Claims(append([]any{"aud", members + "/mcp", "sub", sub, "name", "Ann", "email", "ann@example.com"}, changes...)...)
	return &guest{T: t, url: url, token: w.Token(t, claims)}
}

// testHandles lets A begin all that can be begun at one address; B tries it at another, and then A goes on there with a
// new token.
func testHandles(t *testing.T, w *tokenWorld, made, tried string) {
	h := makeHandles(w.as(t, made, "a-1"))
	b := w.as(t, tried, "b-1")
	b.open()
	for name, try := range tryAll(b, h) {
		if status, text := try(); !isRefusal(status, text) || strings.Contains(text, "secret-") {
			t.Errorf("B, %s: %d %s", name, status, text)
		}
	}
	for _, list := range []string{"/calls", "/calls?state=open", "/results", "/sessions"} {
		_, text := b.ask("GET", "/api/v1"+list, "")
		for _, id := range []string{h.record, h.waiting, h.task, h.modernTask, h.asks, h.ref, h.chat} {
			if strings.Contains(text, `"id":"`+id) || list == "/results" && strings.Contains(text, id) {
				t.Errorf("B sees in %s: %s", list, text)
			}
		}
	}
	if status, text := b.ask("DELETE", "/api/v1/sessions/"+h.chat, ""); status != http.StatusOK { // as if it were not there; it stays
		t.Errorf("B deletes a chat: %d %s", status, text)
	}
	_, listed := b.legacy("tasks/list", "{}")
	if strings.Contains(listed, h.task) || strings.Contains(listed, h.waiting) {
		t.Errorf("B sees the tasks of A: %s", listed)
	}
	old := w.as(t, tried, "a-1", "exp", 1)
	old.session = h.session
	if status, text := old.legacy("tools/list", "{}"); status != http.StatusUnauthorized {
		t.Errorf("A with a token that has expired: %d %s", status, text)
	}
	goesOn(w.as(t, tried, "a-1", "jti", "another", "azp", "another-client", "name", "Ann B", "email", "ann.b@example.com"), w, h)
}

// goesOn lets somebody with a new token go on with all that was begun with the one before.
func goesOn(a *guest, w *tokenWorld, h handles) {
	a.Helper()
	a.session = h.session
	if status, text := a.legacy("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+h.ref+`"}}`); !strings.Contains(text, "status") {
		a.Errorf("its result: %d %s", status, text)
	}
	for path, want := range map[string]string{"/results/" + h.ref: "orders", "/calls/" + h.record: "cur", "/sessions/" + h.chat: "secret-chat"} {
		eventually(a.T, path+" is there", func() bool { // records are written a little later
			status, text := a.ask("GET", "/api/v1"+path, "")
			return status == http.StatusOK && strings.Contains(text, want)
		})
	}
	for _, n := range []string{"secret-waiting", "secret-task"} {
		w.old.let(n)
	}
	w.modern.let("secret-modern")
	w.modern.let("secret-asks answered")
	if status, text := a.modern("tasks/update", h.asks, `"taskId":"`+h.asks+`","inputResponses":{"who":{"action":"accept","content":{"name":"ann"}}}`, true); status != http.StatusOK || strings.Contains(text, `"error"`) {
		a.Errorf("its answer: %d %s", status, text)
	}
	for id, want := range map[string]string{h.waiting: "done secret-waiting", h.task: "done secret-task", h.modernTask: "done secret-modern", h.asks: "ann"} {
		var text string
		eventually(a.T, "the call has ended", func() bool {
			_, text = a.legacy("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+id+`","wait":"5s"}}`)
			return !strings.Contains(text, "Call fetch_result again")
		})
		if !strings.Contains(text, want) {
			a.Errorf("%s: %s", want, text)
		}
	}
	if _, text := a.modern("tools/call", "cur__ask", `"name":"cur__ask","arguments":{}`+answers(h.interim, `{"action":"accept","content":{"name":"ann"}}`), false); !strings.Contains(text, "hello ann") {
		a.Errorf("its parked call: %s", text)
	}
	stream := a.send("GET", "/mcp", "", "Mcp-Session-Id", a.session)
	a.legacy("resources/subscribe", `{"uri":"test://watched"}`)
	a.legacy("tools/call", `{"name":"cur__touch","arguments":{}}`)
	for in, heard := bufio.NewReader(stream.Body), ""; !strings.Contains(heard, "test://watched"); {
		_, heard = event(a.T, in)
	}
	if status, _ := a.ask("DELETE", "/mcp", "", "Mcp-Session-Id", a.session); status != http.StatusNoContent {
		a.Errorf("its session does not end: %d", status)
	}
}

func TestAllHandlesOfOnePersonTriedByAnother(t *testing.T) {
	w := newTokenWorld(t)
	g := serve(t, write(t, w.config("store.db")))
	testHandles(t, w, g.url, g.url)
}

func TestAllHandlesOfOnePersonTriedByAnotherAtAnotherReplica(t *testing.T) {
	for name, store := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "shared.db") },
		"PostgreSQL": func(t *testing.T) string { return testparts.NeedPostgres(t).Schema(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTokenWorld(t)
			yaml := w.config(store(t))
			testHandles(t, w, replica(t, yaml, 0).url, replica(t, yaml, 0).url)
		})
	}
}

// TestADisabledPersonHasNoHandles: with the old token, with a new one, and at another gateway than the one that was told.
func TestADisabledPersonHasNoHandles(t *testing.T) {
	w := newTokenWorld(t)
	yaml := w.config(filepath.Join(t.TempDir(), "shared.db"))
	one := replica(t, yaml, 0)
	other := replica(t, yaml, 0)
	a := w.as(t, one.url, "a-1")
	h := makeHandles(a)
	admin := w.as(t, other.url, "root", "groups", "platform")
	var id string
	eventually(t, "A was seen", func() bool {
		_, list := admin.ask("GET", "/api/v1/people?q=a-1", "")
		id = personID.FindString(list)
		return id != ""
	})
	if status, text := admin.ask("POST", "/api/v1/people/"+id+"/disable", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	eventually(t, "A is out", func() bool {
		status, _ := a.ask("GET", "/api/v1/tools", "")
		return status == http.StatusForbidden
	})
	for _, url := range []string{one.url, other.url} {
		for _, token := range []string{a.token, w.as(t, url, "a-1", "jti", "another").token} {
			out := &guest{T: t, url: url, token: token, session: h.session}
			for name, try := range tryAll(out, h) {
				if status, text := try(); status != http.StatusForbidden {
					t.Errorf("%s: %d %s", name, status, text)
				}
			}
		}
	}
}
