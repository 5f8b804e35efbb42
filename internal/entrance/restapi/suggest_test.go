package restapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

// past is what a test writes down of calls.
type past struct {
	t     *testing.T
	store *store.Store
	n     int
}

// next is the id and the time of the next call, a second after the one before.
func (p *past) next() (id string, at time.Time) {
	p.n++
	at = time.Now().Add(time.Duration(p.n-10_000) * time.Second)
	return fmt.Sprintf("%s%08d", record.FirstID(at), p.n), at
}

// add records a call in a session; a result that is not "" was kept.
func (p *past) add(session string, name tool.Name, args, value string) (ref string) {
	p.t.Helper()
	id, at := p.next()
	c := store.Call{
		ID: id, At: at, Principal: "ann", Profile: "default", MCPSession: session,
		Server: "shop", Tool: name, Outcome: "ok", Level: "info", BytesIn: int64(len(args)),
	}
	if value != "" {
		c.Ref = fmt.Sprint("r_", p.n)
		err := p.store.SaveResult(p.t.Context(), store.Result{
			Ref: c.Ref, Owner: "ann", Call: c.ID, Server: "shop", Tool: name, Profile: "default", Args: json.RawMessage(args),
			Body: json.RawMessage(`{"structuredContent":` + value + `}`), At: c.At,
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.write(c)
	return c.Ref
}

// fetched records that more of a result was fetched.
func (p *past) fetched(session, ref, mask string) {
	p.t.Helper()
	id, at := p.next()
	p.write(store.Call{
		ID: id, At: at, Principal: "ann", MCPSession: session,
		Tool: call.FetchResult, Message: "fetched: " + mask, Ref: ref, Outcome: "ok", Level: "info",
	})
}

func (p *past) write(c store.Call) {
	p.t.Helper()
	if err := p.store.AppendCalls(p.t.Context(), []store.Call{c}); err != nil {
		p.t.Fatal(err)
	}
}

// things is a list of which the key of one is used next.
func things(seed int) string {
	var list []string
	for i := range 5 {
		list = append(list, fmt.Sprintf(`{"id":%d,"key":"key-%05d","label":"thing %d","digest":"%040d","notes":"%s"}`, i, seed*10+i, i,
			seed*10+i, strings.Repeat("many words ", 20)))
	}
	return `{"things":[` + strings.Join(list, ",") + `]}`
}

func (g *gateway) suggestions(t *testing.T, query string) (list restapi.SuggestionList) {
	t.Helper()
	status, body := g.ask(t, "eye", "GET", "/api/v1/suggestions"+query, "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	newSchemas(t).check(t, "SuggestionList", body)
	return list
}

func TestSuggestionsComeFromTheRecord(t *testing.T) {
	g := newGateway(t)
	p := &past{t: t, store: g.app.Store}
	for i := range 65 {
		session := fmt.Sprint("session-", i)
		ref := p.add(session, "shop__things", `{}`, things(i))
		p.add(session, "shop__open", fmt.Sprintf(`{"key":"key-%05d"}`, i*10+2), `{"ok":true}`)
		if i == 3 {
			p.fetched(session, ref, "things/label")
		}
	}
	list := g.suggestions(t, "?tool=shop__things")
	if len(list.Suggestions) != 1 || list.Conversations != 65 || list.Blind != 0 {
		t.Fatalf("%+v", list)
	}
	s := list.Suggestions[0]
	if s.Keep != "things(id,key,label)" || s.Stage != "offer" || s.Conversations != 65 || s.Hidden != 0 || s.Saved < .6 ||
		!strings.Contains(s.Text, "would have hidden 0 values that were used later (65 conversations)") {
		t.Errorf("%+v", s)
	}
	if all := g.suggestions(t, ""); len(all.Suggestions) != 1 {
		t.Errorf("%+v", all.Suggestions)
	}
	if none := g.suggestions(t, "?tool=nope"); len(none.Suggestions) != 0 || len(none.None) != 1 ||
		none.None[0].Why != "none of its results is stored" {
		t.Errorf("%+v", none)
	}
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/suggestions", ""); status != 403 {
		t.Errorf("a caller reads what others called: HTTP %d", status)
	}
}

// Where the arguments of later calls were not kept, nobody knows what they used.
func TestWhatWasNotSeenIsSaid(t *testing.T) {
	g := newGateway(t)
	p := &past{t: t, store: g.app.Store}
	for i := range 65 {
		session := fmt.Sprint("session-", i)
		p.add(session, "shop__things", `{}`, things(i))
		p.add(session, "shop__open", `{"key":"unknown"}`, "")
	}
	list := g.suggestions(t, "")
	if list.Blind != 65 || len(list.Suggestions) != 1 || list.Suggestions[0].Stage == "offer" {
		t.Errorf("%+v", list)
	}
}

func TestWithoutASessionAPauseEndsAConversation(t *testing.T) {
	g := newGateway(t)
	p := &past{t: t, store: g.app.Store}
	p.add("", "shop__things", `{}`, things(1))
	p.add("", "shop__things", `{}`, things(2))
	p.n += 2000 // seconds
	p.add("", "shop__things", `{}`, things(3))
	if list := g.suggestions(t, ""); list.Conversations != 2 {
		t.Errorf("%d conversations", list.Conversations)
	}
}

// ruleID is what an id of a rule looks like.
var ruleID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func TestLearnedRulesHaveTheirOwnIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []restapi.Suggestion{
		{Tool: "a__b"},
		{Tool: "a__b", When: map[string]any{"action": "list"}},
		{Tool: "a__b", When: map[string]any{"action": "列表"}},
		{Tool: "a__b", When: map[string]any{"action": "详情"}},
		{Tool: tool.Name("a__" + strings.Repeat("x", 200))},
		{Tool: tool.Name("a__" + strings.Repeat("x", 201))},
	} {
		id := s.RuleID()
		if seen[id] || len(id) > 128 || !ruleID.MatchString(id) {
			t.Errorf("%q", id)
		}
		seen[id] = true
	}
}

func TestEveryTextHasAnIDOfARule(t *testing.T) {
	for _, text := range []string{"", "-", "工具", "<b>x</b>", "_a", "a\x00b", "\xff", strings.Repeat("长", 300), "shop__list"} {
		if id := restapi.RuleID(text); !ruleID.MatchString(id) {
			t.Errorf("%.20q gives %q", text, id)
		}
	}
	if id := restapi.RuleID("shop__list"); id != "shop__list" {
		t.Errorf("got %q", id)
	}
}
