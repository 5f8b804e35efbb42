package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const searchConfig = `
mcpServers:
  files: {command: x}
  mail: {command: x}
profiles:
  default: {search: on, budget: 2000}
  bare: {search: auto, names: bare, tools: {deny: ["mail__send*", "files__secret"]}}
  gpt: {search: on, dialect: gemini-params}
  off: {}
overrides:
  - {tool: files__read, example: {path: a.txt}, descriptions: {zh-Hans: 读取文件}}
`

// memory keeps uses, as the store does.
type memory struct {
	mu   sync.Mutex
	uses []store.Use
	err  error
}

func (m *memory) Uses(_ context.Context, owner string) (own []store.Use, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.uses {
		if u.Owner == owner {
			own = append(own, u)
		}
	}
	return own, m.err
}

func (m *memory) AddUse(_ context.Context, u store.Use) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uses = append(m.uses, u)
	return m.err
}

// hall is a caller over two servers whose tools are searched.
type hall struct {
	caller  *Caller
	uses    *memory
	sent    []upstream.Call
	records []store.Call
	now     time.Time
	answer  string
}

func newHall(t testing.TB, uses *memory) *hall {
	t.Helper()
	cfg, err := config.Parse("toolfit.yaml", []byte(searchConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := store.Server{ID: "files", ListedAt: time.Unix(1, 0)}
	mail := store.Server{ID: "mail", ListedAt: time.Unix(1, 0)}
	add := func(s *store.Server, def string) {
		s.Tools = append(s.Tools, store.Tool{Definition: json.RawMessage(def)})
	}
	add(&files, `{"name":"read","description":"Read a file from the disk. Gives its text.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}}`)
	add(&files, `{"name":"tree","description":"Show the folders below one.","inputSchema":{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},
		"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"inside":{"$ref":"#/$defs/node"}}}}}}`)
	add(&files, `{"name":"secret","description":"Read what nobody may read."}`)
	add(&mail, `{"name":"send_message","description":"Send a message to a person.","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"]}}`)
	add(&mail, `{"name":"inbox","description":"List messages that came."}`)
	cat, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{files, mail}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	cat.Apply(cfg)
	h := &hall{uses: uses, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), answer: `{"content":[{"type":"text","text":"done"}]}`}
	sender := fakeSender{call: func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		h.sent = append(h.sent, c)
		return upstream.Outcome{Raw: json.RawMessage(h.answer)}, nil
	}}
	recorder := fakeRecorder{add: func(_ context.Context, c store.Call) error { h.records = append(h.records, c); return nil }}
	h.caller = New(cat, sender, recorder, &Options{Uses: uses, Now: func() time.Time { return h.now }})
	return h
}

// do makes a call as an agent of the session does.
func (h *hall) do(t testing.TB, profile, session, name, args string) (*Result, error) {
	t.Helper()
	params, err := ParseParams(json.RawMessage(`{"name":` + string(rawjson.AppendString(nil, name)) + `,"arguments":` + args + `,"_meta":{"x":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	h.sent, h.records = nil, nil
	return h.caller.Do(t.Context(), Request{Principal: access.Local(), Profile: profile, MCPSession: session, Params: params, AsListed: true})
}

// structured is the structured content of a result, decoded into v.
func structured(t testing.TB, res *Result, err error, v any) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	body := rawjson.Get(res.Raw, "structuredContent")
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatal(err)
	}
	if text, _ := rawjson.String(rawjson.Get(res.Raw[strings.Index(string(res.Raw), `"text":`)-1:], "text")); text != "" && text != string(body) {
		t.Errorf("text %s beside %s", text, body)
	}
}

func TestFindToolsNamesSkills(t *testing.T) {
	entry := func(name, about string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"uri":"skill://%[1]s/SKILL.md","frontmatter":{"name":%[1]q,"description":%[2]q},"resources":"dynamic"}`, name, about))
	}
	row := store.Server{
		ID: "files", ListedAt: time.Unix(1, 0), Capabilities: json.RawMessage(`{"extensions":{"io.modelcontextprotocol/skills":{}}}`),
		Tools:  []store.Tool{{Definition: json.RawMessage(`{"name":"read","description":"Read a file."}`)}},
		Skills: []json.RawMessage{entry("refunds", "Process customer refund requests"), entry("git-workflow", "Branching and commits")},
	}
	cfg, err := config.Parse("toolfit.yaml", []byte(searchConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row, {ID: "mail", ListedAt: time.Unix(1, 0)}}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	cat.Apply(cfg)
	h := newHall(t, &memory{})
	h.caller.tools = cat
	res, err := h.do(t, "default", "m", "find_tools", `{"query":"refund a customer"}`)
	var found Found
	structured(t, res, err, &found)
	want := catalog.FoundSkill{URI: "skill://files/refunds/SKILL.md", Name: "refunds", Server: "files", Description: "Process customer refund requests"}
	if len(found.Skills) != 1 || found.Skills[0] != want {
		t.Errorf("found %+v", found.Skills)
	}
	res, err = h.do(t, "default", "m", "find_tools", `{"query":"read a file"}`)
	if err != nil || strings.Contains(string(res.Raw), "skills") {
		t.Errorf("%s, %v", res.Raw, err)
	}
}

func TestFindTools(t *testing.T) {
	h := newHall(t, &memory{})
	var found Found
	res, err := h.do(t, "default", "m", "find_tools", `{"query":"send somebody a message","limit":"2"}`)
	structured(t, res, err, &found)
	if len(found.Tools) == 0 || found.Tools[0].Name != "mail__send_message" || found.Tools[0].Server != "mail" || found.Tools[0].Score <= 0 ||
		!strings.HasPrefix(found.Tools[0].Text, "mail__send_message(to: string, text?: string) — Send a message") {
		t.Errorf("got %+v", found)
	}
	if len(h.sent) != 0 || len(h.records) != 1 || h.records[0].Tool != "find_tools" {
		t.Errorf("sent %d, recorded %+v", len(h.sent), h.records)
	}
	res, err = h.do(t, "default", "m", "find_tools", `{"query":"读取文件","detail":"full","limit":1}`)
	structured(t, res, err, &found)
	if len(found.Tools) != 1 || found.Tools[0].Name != "files__read" || !strings.Contains(found.Tools[0].Text, "// Example: ") {
		t.Errorf("got %+v", found)
	}
	res, err = h.do(t, "default", "m", "find_tools", `{"query":"message","detail":"name"}`)
	found = Found{}
	structured(t, res, err, &found)
	if len(found.Tools) < 2 || found.Tools[0].Name != "mail__send_message" || found.Tools[0].Text != "" {
		t.Errorf("got %+v", found)
	}
}

func TestSearchWithoutAHitNamesTheServers(t *testing.T) {
	h := newHall(t, &memory{})
	var found Found
	res, err := h.do(t, "default", "m", "find_tools", `{"query":"zzz"}`)
	structured(t, res, err, &found)
	if len(found.Tools) == 0 || found.Tools[0].Score >= search.Sure || !strings.Contains(found.Note, "are guesses. There are tools of: files (") {
		t.Errorf("got %s", res.Raw)
	}
}

func TestWrongSearchesAreRefused(t *testing.T) {
	h := newHall(t, &memory{})
	for _, args := range []string{`{}`, `{"query":""}`, `{"query":"  "}`, `{"query":"x","limit":51}`, `{"query":"x","limit":0}`, `{"query":"x","detail":"all"}`, `{"query":7,"x":1}`} {
		if _, err := h.do(t, "default", "m", "find_tools", args); !fault.Is(err, fault.BadArguments) && !fault.Is(err, fault.BadRequest) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := h.do(t, "off", "m", "find_tools", `{"query":"x"}`); !fault.Is(err, fault.UnknownTool) {
		t.Errorf("without a search: %v", err)
	}
}

func TestLongAnswersGetShorterNotCut(t *testing.T) {
	e, _ := func() (*catalog.Entry, error) {
		v, err := newHall(t, nil).caller.tools.View("default")
		if err != nil {
			return nil, err
		}
		return v.Find("files__read")
	}()
	for room, want := range map[int]string{1000: "// Read a file", 36: "files__read(path: string", 5: ""} {
		left := room
		if text := tell(e, Full, &left); !strings.HasPrefix(text, want) || want == "" && text != "" || left < 0 {
			t.Errorf("%d: %q leaves %d", room, text, left)
		}
	}
}

func TestDescribeToolHasNoReferences(t *testing.T) {
	h := newHall(t, &memory{})
	var d Description
	res, err := h.do(t, "default", "m", "describe_tool", `{"name":"files__tree"}`)
	structured(t, res, err, &d)
	if strings.Contains(string(res.Raw), "$ref") || !strings.HasPrefix(d.Signature, "files__tree(root?: ") || rawjson.Get(d.InputSchema, "properties", "root", "properties", "inside") == nil {
		t.Errorf("got %s", res.Raw)
	}
	_, err = h.do(t, "default", "m", "describe_tool", `{"name":"files__raed"}`)
	if f := fault.As(err); f.Code != fault.BadArguments || !strings.Contains(f.Hint, "files__read(path: string") {
		t.Errorf("got %v", err)
	}
}

func TestCallToolIsTheCallItself(t *testing.T) {
	h := newHall(t, &memory{})
	direct, err := h.do(t, "default", "m", "files__read", `{"path":"a","lines":3}`)
	if err != nil {
		t.Fatal(err)
	}
	sent, record := h.sent[0], h.records[0]
	through, err := h.do(t, "default", "m", "call_tool", `{"name":"files__read","arguments":{"path":"a","lines":3}}`)
	if err != nil {
		t.Fatal(err)
	}
	if string(direct.Raw) != string(through.Raw) || string(sent.Params) != string(h.sent[0].Params) || sent.Meta != h.sent[0].Meta || sent.Session != h.sent[0].Session {
		t.Errorf("direct %s\nthrough %s", sent.Params, h.sent[0].Params)
	}
	if len(h.records) != 1 || h.records[0] != record {
		t.Errorf("direct %+v\nthrough %+v", record, h.records)
	}
}

func TestArgumentsOfCallToolAreRepaired(t *testing.T) {
	h := newHall(t, &memory{})
	for args, want := range map[string]string{
		`{"name":"files__read","arguments":"{\"path\":\"a\"}"}`:               `{"path":"a"}`,
		`{"name":"files__read","arguments":{"path":"a","lines":"3"}}`:         `{"path":"a","lines":3}`,
		`"{\"name\":\"files__read\",\"arguments\":{\"path\":\"a\"}}"`:         `{"path":"a"}`,
		`{"arguments":{"path":"a\u00e9 \" 好"},"name":"files__read"}`:          `{"path":"a\u00e9 \" 好"}`,
		`{"name":"mail__inbox"}`:                                              `{}`,
		`{"name":"mail__inbox","arguments":null}`:                             `{}`,
		`{"name":"mail__inbox","arguments":{"name":"x","arguments":{"y":1}}}`: `{"name":"x","arguments":{"y":1}}`,
	} {
		if _, err := h.do(t, "default", "m", "call_tool", args); err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if got := string(rawjson.Get(h.sent[0].Params, "arguments")); got != want {
			t.Errorf("%s became %s", args, got)
		}
		if strings.Contains(args, `"arguments":"`) && !strings.Contains(h.records[0].Repairs, "/arguments") {
			t.Errorf("%s: recorded %s", args, h.records[0].Repairs)
		}
	}
	if _, err := h.do(t, "gpt", "m", "call_tool", `{"name":"files__read","arguments":"{\"path\":\"a\"}"}`); err != nil {
		t.Errorf("in a dialect: %v", err)
	}
}

func TestCallToolRefusesWhatIsNoTool(t *testing.T) {
	h := newHall(t, &memory{})
	for args, want := range map[string]string{
		`{"name":"call_tool","arguments":{"name":"files__read"}}`: "call_tool cannot call itself",
		`{"name":"read_file","arguments":{}}`:                     "did you mean one of these?\nfiles__read(",
		`{"name":"zzz"}`:                                          "use find_tools. There are tools of: files",
		`{"arguments":{}}`:                                        "/name: missing",
		`{"name":"files__read","arguments":[1]}`:                  "/arguments",
		`{"name":"files__read","arguments":{"path":["a","b"]}}`:   "/path",
	} {
		_, err := h.do(t, "default", "m", "call_tool", args)
		if f := fault.As(err); f.Code != fault.BadArguments || !strings.Contains(f.Error(), want) || len(h.sent) != 0 || len(h.records) != 1 {
			t.Errorf("%s: %v, %d sent", args, err, len(h.sent))
		}
	}
}

// TestReachedThroughCallToolIsExactlyWhatMayBeCalled is the rule of the one decision.
func TestReachedThroughCallToolIsExactlyWhatMayBeCalled(t *testing.T) {
	h := newHall(t, &memory{})
	names := []string{"files__read", "files__secret", "mail__send_message", "mail__inbox", "read", "secret", "send_message", "inbox", "tree", "files__tree", "fetch_result", "", "x", "FILES__READ"}
	rapid.Check(t, func(rt *rapid.T) {
		profile := rapid.SampledFrom([]string{"default", "bare", "gpt"}).Draw(rt, "profile")
		name := rapid.SampledFrom(names).Draw(rt, "name")
		quoted := string(rawjson.AppendString(nil, name))
		view, err := h.caller.tools.View(profile)
		if err != nil {
			rt.Fatal(err)
		}
		_, refused := view.Find(name)
		_, err = h.do(t, profile, "m", "call_tool", `{"name":`+quoted+`,"arguments":{"path":"p","to":"t"}}`)
		called := err == nil || len(h.records) == 1 && h.records[0].Tool == tool.Name(name)
		_, err = h.do(t, profile, "m", "describe_tool", `{"name":`+quoted+`}`)
		if described := err == nil; called != (refused == nil) || described != (refused == nil) {
			rt.Fatalf("%s in %s: called %v, described %v, may be called %v", name, profile, called, described, refused == nil)
		}
		var found Found
		res, err := h.do(t, profile, "m", "find_tools", `{"query":"read secret send message file inbox folders tree","limit":50}`)
		structured(t, res, err, &found)
		for _, f := range found.Tools {
			if _, err := view.Find(f.Name); err != nil {
				rt.Fatalf("%s was found and may not be called", f.Name)
			}
		}
		if profile == "bare" && (len(found.Tools) != 3 || strings.Contains(string(res.Raw), "nobody may read")) {
			rt.Fatalf("found %s", res.Raw)
		}
	})
}

func TestSearchGetsCreditForTheCallThatFollows(t *testing.T) {
	uses := &memory{}
	h := newHall(t, uses)
	find := func(session, query string) Found {
		var found Found
		res, err := h.do(t, "default", session, "find_tools", fmt.Sprintf(`{"query":%q}`, query))
		structured(t, res, err, &found)
		return found
	}
	find("m", "message to my aunt")
	if _, err := h.do(t, "default", "other", "mail__send_message", `{"to":"x"}`); err != nil || len(uses.uses) != 0 {
		t.Fatalf("a call of another session was credited: %v, %v", uses.uses, err)
	}
	h.answer = `{"content":[],"isError":true}`
	h.do(t, "default", "m", "mail__send_message", `{"to":"x"}`)
	h.answer = `{"content":[]}`
	h.do(t, "default", "m", "describe_tool", `{"name":"mail__send_message"}`)
	h.do(t, "default", "m", "call_tool", `{"name":"files__tree"}`)
	if len(uses.uses) != 0 {
		t.Fatalf("credited too early: %+v", uses.uses)
	}
	h.do(t, "default", "m", "call_tool", `{"name":"mail__send_message","arguments":{"to":"x"}}`)
	if len(uses.uses) != 1 || uses.uses[0].Tool != "mail__send_message" || uses.uses[0].Owner != "local" || string(uses.uses[0].Terms) != `["@files__tree","aunt","messag"]` {
		t.Fatalf("got %+v", uses.uses)
	}
	again := func() {
		find("m", "message to my aunt")
		h.do(t, "default", "m", "files__tree", `{}`)
		h.do(t, "default", "m", "mail__send_message", `{"to":"x"}`)
	}
	again()
	if len(uses.uses) != 1 {
		t.Errorf("the same words were kept twice in a day: %+v", uses.uses)
	}
	h.now = h.now.Add(25 * time.Hour)
	again()
	if len(uses.uses) != 2 {
		t.Errorf("they are not kept again after a day: %+v", uses.uses)
	}
	find("m", "an inbox")
	h.caller.EndSession("m")
	if h.do(t, "default", "m", "mail__inbox", `{}`); len(uses.uses) != 2 {
		t.Errorf("a session that has ended was credited: %+v", uses.uses)
	}
}

func TestMemoryChangesTheOrderAlsoAfterARestart(t *testing.T) {
	uses := &memory{}
	h := newHall(t, uses)
	first := func(owner string) string {
		found, err := h.caller.Search(t.Context(), access.Principal{ID: owner}, "default", Query{Text: "zzz quux message"})
		if err != nil || len(found.Tools) == 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found.Tools[0].Name
	}
	before := first("local")
	other := map[string]string{"mail__send_message": "mail__inbox", "mail__inbox": "mail__send_message"}[before]
	for i := range 8 { // the same tool after different words that share some
		res, err := h.do(t, "default", "m", "find_tools", fmt.Sprintf(`{"query":"zzz quux message %d"}`, i))
		structured(t, res, err, &Found{})
		if _, err := h.do(t, "default", "m", "call_tool", `{"name":"`+other+`","arguments":{"to":"x"}}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := first("local"); got != other {
		t.Errorf("found %s after %d uses of %s", got, len(uses.uses), other)
	}
	if got := first("somebody"); got != before {
		t.Errorf("another owner finds %s", got)
	}
	h = newHall(t, uses)
	if got := first("local"); got != other {
		t.Errorf("found %s after a restart", got)
	}
}

func TestSearchDoesWithoutAStoreThatIsOut(t *testing.T) {
	h := newHall(t, &memory{err: errors.New("out")})
	for range 3 {
		res, err := h.do(t, "default", "m", "find_tools", `{"query":"inbox"}`)
		structured(t, res, err, &Found{})
		if _, err := h.do(t, "default", "m", "mail__inbox", `{}`); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSearchesAndCallsSideBySide(t *testing.T) {
	uses := &memory{}
	h := newHall(t, uses)
	sender := fakeSender{call: func(context.Context, upstream.Call) (upstream.Outcome, error) {
		return upstream.Outcome{Raw: json.RawMessage(`{}`)}, nil
	}}
	h.caller = New(h.caller.tools, sender, fakeRecorder{add: func(context.Context, store.Call) error { return nil }}, &Options{Uses: uses})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				for _, raw := range []string{
					fmt.Sprintf(`{"name":"find_tools","arguments":{"query":"inbox %d"}}`, j),
					`{"name":"call_tool","arguments":{"name":"mail__inbox"}}`,
				} {
					params, _ := ParseParams(json.RawMessage(raw))
					req := Request{Principal: access.Local(), Profile: "default", MCPSession: fmt.Sprint(i % 3), Params: params, Client: mcp.Deaf}
					if _, err := h.caller.Do(t.Context(), req); err != nil {
						t.Error(err)
					}
				}
				if j == 10 {
					h.caller.EndSession(fmt.Sprint(i % 3))
				}
			}
		})
	}
	wg.Wait()
	if len(uses.uses) == 0 {
		t.Error("nothing was learned")
	}
}

func TestLatelyForgetsTheOldest(t *testing.T) {
	l := newLRU[int](3)
	for _, key := range []string{"a", "b", "a", "c", "d"} {
		l.do(key, func(n *int) { *n++ })
	}
	for key, want := range map[string]int{"a": 2, "c": 1, "d": 1} {
		l.do(key, func(n *int) {
			if *n != want {
				t.Errorf("%s is %d", key, *n)
			}
		})
	}
	if l.drop("a"); len(l.byKey) != 2 || l.order.Len() != 2 {
		t.Errorf("%d keys", len(l.byKey))
	}
}

func TestWhatAnotherReplicaHasLearnedIsReadAgain(t *testing.T) {
	uses := &memory{}
	c := newHall(t, uses).caller
	learned := func() int { return len(c.memories.of(t.Context(), "ann").Credits("mail__inbox")) }
	if n := learned(); n != 0 {
		t.Fatalf("learned %d", n)
	}
	for i, owner := range []string{"ann", ""} {
		want := i + 1
		use := store.Use{Owner: "ann", Tool: "mail__inbox", Terms: json.RawMessage(fmt.Sprintf(`["word%d"]`, want)), At: time.Unix(int64(want), 0)}
		if err := uses.AddUse(t.Context(), use); err != nil {
			t.Fatal(err)
		}
		c.ForgetUses("bob")
		if n := learned(); n != want-1 {
			t.Errorf("it was read again though nothing was said: %d", n)
		}
		c.ForgetUses(owner)
		if n := learned(); n != want {
			t.Errorf("learned %d, want %d", n, want)
		}
	}
}
