package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// library is a gateway with the servers one and two, whose skills have equal URIs. Bob may not have the skill secret.
type library struct {
	*door
	server *Server

	mu      sync.Mutex
	asked   []string        // what servers were asked, as "one skills/get URI"
	changed []tool.ServerID // those that are to be listed again
	more    string          // what else a directory has
	digit   string          // of which the digests are that a server answers with
}

// entryOf is the entry of a skill, with digests of one digit.
func entryOf(name, digit string) string {
	return fmt.Sprintf(`{"uri":"skill://%[1]s/SKILL.md", "frontmatter":{"name":"%[1]s","description":"D"},"resources":[{"uri":"skill://%[1]s/SKILL.md",`+
		`"digest":"sha256:%[2]s","size":1}]}`, name, strings.Repeat(digit, 64))
}

// shelves lists the skills of both.
type shelves struct{}

func (shelves) List(_ context.Context, id tool.ServerID) (upstream.Listing, error) {
	l := upstream.Listing{TTL: -1, Skills: []json.RawMessage{[]byte(entryOf("refunds", "1")), []byte(entryOf("secret", "1"))}}
	l.Capabilities = json.RawMessage(`{"resources":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":` + fmt.Sprint(id == "one") + `}}}`)
	l.Resources = []json.RawMessage{[]byte(`{"uri":"skill://refunds/SKILL.md"}`)}
	l.Templates = []json.RawMessage{[]byte(`{"uriTemplate":"skill://{+path}"}`)}
	return l, nil
}
func (shelves) Recognize(tool.ServerID, upstream.Listing) {}

func newLibrary(t *testing.T) *library {
	l := &library{digit: "1"}
	builtins := map[string]upstream.Builtin{}
	cfg, err := config.Parse("toolfit.yaml", []byte(`mcpServers: {one: {command: x}, two: {command: x}}
policy: [{name: a, then: deny, when: 'tool.kind == "skill" && args.uri.startsWith("skill://secret/") && who.id == "bob"'}]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range cfg.Servers {
		cfg.Servers[i] = config.Server{ID: s.ID, Builtin: string(s.ID)}
		builtins[string(s.ID)] = func(config.Server) (mcp.Handler, error) {
			return mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) { return l.serve(s.ID, req) }), nil
		}
	}
	pool := upstream.New(&upstream.Options{Builtins: builtins})
	cat, err := catalog.New(t.Context(), shelves{}, noKeeper{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool.Apply(cfg.Servers)
	cat.Apply(cfg)
	for _, s := range cfg.Servers {
		if err := cat.Refresh(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	l.server = New(cat, nil, pool, &Options{Changed: func(id tool.ServerID) { l.changed = append(l.changed, id) }})
	l.door = newDoor(t, func(who string) mcp.Entry {
		return l.server.Entry(access.Principal{ID: who, Role: access.Caller}, "default")
	}, func(session *mcp.Session) { l.server.SessionEnded(context.Background(), session) })
	t.Cleanup(func() {
		l.server.Close()
		pool.Close()
	})
	return l
}

// serve is a server.
func (l *library) serve(id tool.ServerID, req *mcp.Request) (json.RawMessage, error) {
	uri := text(string(req.Params), "uri")
	if req.Method == "completion/complete" {
		uri = text(string(req.Params), "ref", "uri")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, strings.TrimSpace(string(id)+" "+req.Method+" "+uri))
	switch req.Method {
	case "skills/get":
		if !strings.Contains(uri, "unlisted") && !strings.Contains(uri, "refunds") {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "No skill is served at %s", uri)
		}
		return json.RawMessage(`{"skill":` + entryOf(strings.Split(uri, "/")[2], l.digit) + `}`), nil
	case "resources/read":
		return json.RawMessage(`{"contents":[{"text":"skill://refunds", "uri":` + string(rawjson.AppendString(nil, uri)) + `},{"uri":"other://x","text":""}]}`), nil
	case "resources/directory/read":
		return json.RawMessage(`{"resources":[{"uri":"skill://refunds/SKILL.md","name":"SKILL.md"},{"uri":"skill://refunds/a","mimeType":"inode/directory"}` + l.more + `]}`), nil
	}
	return json.RawMessage("{}"), nil
}

// was is what servers were asked since the last time.
func (l *library) was() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.asked = nil }()
	return strings.Join(l.asked, ", ")
}

func TestSkillsOfBothErasAreGotAndReadAtTheirServers(t *testing.T) {
	l := newLibrary(t)
	legacy := l.open("ann", "2025-11-25", `{}`)
	for era, ask := range map[string]func(method, params string) (string, error){
		"legacy": func(method, params string) (string, error) { return legacy.request(t.Context(), method, params) },
		"modern": func(method, params string) (string, error) { return l.modern(t.Context(), "ann", `{}`, method, params) },
	} {
		here := strings.ReplaceAll(entryOf("refunds", "1"), "skill://", "skill://two/")
		unlisted := strings.ReplaceAll(entryOf("unlisted", "1"), "skill://", "skill://two/")
		for _, c := range []struct{ method, params, want, asked string }{
			{"skills/list", `{}`, here, ""},
			{"skills/get", `{"uri":"skill://two/refunds/SKILL.md"}`, `"skill":` + here, "two skills/get skill://refunds/SKILL.md"},
			{"skills/get", `{"uri":"skill://two/unlisted/SKILL.md"}`, `"skill":` + unlisted, "two skills/get skill://unlisted/SKILL.md"},
			{"resources/read", `{"uri":"skill://one/refunds/SKILL.md"}`,
				`"contents":[{"text":"skill://refunds", "uri":"skill://one/refunds/SKILL.md"},{"uri":"other://x","text":""}]`,
				"one resources/read skill://refunds/SKILL.md"},
			{"resources/directory/read", `{"uri":"skill://one/refunds"}`,
				`"resources":[{"uri":"skill://one/refunds/SKILL.md","name":"SKILL.md"},{"uri":"skill://one/refunds/a","mimeType":"inode/directory"}]`,
				"one resources/directory/read skill://refunds"},
			{"completion/complete", `{"ref":{"type":"ref/resource","uri":"skill://two/{+path}"},"argument":{"name":"path","value":""}}`, "",
				"two completion/complete skill://{+path}"},
		} {
			got, err := ask(c.method, c.params)
			if err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s: %s, %v", era, c.method, got, err)
			}
			if asked := l.was(); asked != c.asked {
				t.Errorf("%s: %s: asked %s", era, c.method, asked)
			}
			cached := text(got, "ttlMs") != "" && text(got, "cacheScope") == "private" && text(got, "resultType") == "complete"
			if c.method != "completion/complete" && cached != (era == "modern") {
				t.Errorf("%s: %s: %s", era, c.method, got)
			}
		}
		for _, c := range []struct{ method, uri, want, asked string }{
			{"skills/get", "skill://two/nothing/SKILL.md", "No skill is served at skill://nothing/SKILL.md", "two skills/get skill://nothing/SKILL.md"},
			{"skills/get", "skill://three/refunds/SKILL.md", "unknown skill", ""},
			{"skills/get", "skill://refunds/SKILL.md", "unknown skill", ""},
			{"skills/get", "", "uri is missing", ""},
			{"resources/directory/read", "skill://two/refunds", "server two does not list directories", ""},
			{"resources/directory/read", "skill://three/refunds", "unknown resource", ""},
		} {
			_, err := ask(c.method, string(catalog.URIArgs(c.uri)))
			var rpc *mcp.Error
			if !errors.As(err, &rpc) || rpc.Code != mcp.CodeInvalidParams || !strings.Contains(rpc.Message, c.want) {
				t.Errorf("%s: %s %s: %v", era, c.method, c.uri, err)
			}
			if asked := l.was(); asked != c.asked {
				t.Errorf("%s: %s %s: asked %s", era, c.method, c.uri, asked)
			}
		}
	}
}

func TestWhoMayNotHaveASkillMayNotHaveItsFiles(t *testing.T) {
	l := newLibrary(t)
	for who, denied := range map[string]bool{"ann": false, "bob": true} {
		list, err := l.modern(t.Context(), who, `{}`, "skills/list", `{}`)
		if err != nil || strings.Contains(list, "secret") == denied {
			t.Errorf("%s is listed %s, %v", who, list, err)
		}
		for _, method := range []string{"skills/get", "resources/read", "resources/directory/read"} {
			l.was()
			_, err := l.modern(t.Context(), who, `{}`, method, `{"uri":"skill://one/secret/SKILL.md"}`)
			if refused := err != nil && strings.Contains(err.Error(), "does not permit"); refused != denied || (l.was() == "") != denied {
				t.Errorf("%s: %s: %v", who, method, err)
			}
		}
	}
}

// A directory above a skill, or a generous reading of it, tells nothing of one that the caller may not have.
func TestADirectoryHasNothingOfASkillThatIsHidden(t *testing.T) {
	l := newLibrary(t)
	l.more = `,{"uri":"skill://secret/SKILL.md","description":"hidden"},{"uri":"skill://SECRET","description":"hidden"}`
	for who, want := range map[string]int{"ann": 2, "bob": 0} {
		for _, at := range []string{"skill://one/refunds", "skill://one/"} {
			got, err := l.modern(t.Context(), who, `{}`, "resources/directory/read", `{"uri":"`+at+`"}`)
			if err != nil || strings.Count(got, "hidden") != want || !strings.Contains(got, "skill://one/refunds/a") {
				t.Errorf("%s reads in %s: %s, %v", who, at, got, err)
			}
		}
	}
}

func TestASkillThatIsAnotherByNowIsListedAgain(t *testing.T) {
	l := newLibrary(t)
	l.digit = "2"
	got, err := l.modern(t.Context(), "ann", `{}`, "skills/get", `{"uri":"skill://one/refunds/SKILL.md"}`)
	if err != nil || !strings.Contains(got, strings.Repeat("1", 64)) || fmt.Sprint(l.changed) != "[one]" {
		t.Errorf("%s, %v, %v", got, l.changed, err)
	}
}

func TestAClientHearsOfAFileUnderTheURIItKnows(t *testing.T) {
	l := newLibrary(t)
	s := l.open("ann", "2025-11-25", `{}`)
	s.listen()
	const here = `{"uri":"skill://two/refunds/SKILL.md"}`
	if _, err := s.request(t.Context(), "resources/subscribe", here); err != nil || l.was() != "two resources/subscribe skill://refunds/SKILL.md" {
		t.Fatal(err)
	}
	l.server.Updated("one", json.RawMessage(`{"uri":"skill://refunds/SKILL.md"}`))
	l.server.Updated("two", json.RawMessage(`{"uri":"skill://refunds/SKILL.md"}`))
	soon(t, "the news", func() bool { return len(s.heard("notifications/resources/updated")) > 0 })
	if news := s.heard("notifications/resources/updated"); len(news) != 1 || news[0] != here {
		t.Errorf("heard %q", news)
	}
	if _, err := s.request(t.Context(), "resources/unsubscribe", here); err != nil || l.was() != "two resources/unsubscribe skill://refunds/SKILL.md" {
		t.Error(err)
	}
}
