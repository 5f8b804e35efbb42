package restapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// fill stores n calls, a second apart, the last one at the end. Every third failed.
func (g *gateway) fill(t testing.TB, n int, end time.Time) {
	t.Helper()
	var calls []store.Call
	for i := range n {
		at := end.Add(time.Duration(i-n+1) * time.Second)
		c := store.Call{
			ID: record.FirstID(at) + "node", At: at, Principal: fmt.Sprint("p", i%2), Server: "shop", Tool: "shop__list_orders",
			Outcome: "ok", Level: "info",
		}
		if i%3 == 0 {
			c.Outcome, c.Level, c.Tool = "error", "error", "shop__fail"
		}
		calls = append(calls, c)
	}
	if err := g.app.Store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
}

func TestFiltersChooseCalls(t *testing.T) {
	g := newGateway(t)
	end := time.Now().UTC().Truncate(time.Second)
	g.fill(t, 12, end)
	at := func(seconds int) string {
		return url.QueryEscape(end.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339))
	}
	just := func(seconds int) string { // a nanosecond later
		return url.QueryEscape(end.Add(time.Duration(seconds)*time.Second + 1).Format(time.RFC3339Nano))
	}
	cases := []struct {
		name, query string
		want        int
	}{
		{"none", "", 12},
		{"an outcome", "outcome=error", 4},
		{"a tool", "tool=shop__fail", 4},
		{"a server", "server=shop", 12},
		{"a server without calls", "server=cloud", 0},
		{"a principal", "principal=p1", 6},
		{"since a time, which is part of it", "since=" + at(-2), 3},
		{"until a time, which is not", "until=" + at(-2), 9},
		{"a span", "since=" + at(-5) + "&until=" + at(-2), 3},
		{"just after a call", "since=" + just(-2), 2},
		{"until just after a call", "until=" + just(-2), 10},
		{"a span that ends before it begins", "since=" + at(-2) + "&until=" + at(-5), 0},
		{"a time in another zone", "since=" + url.QueryEscape(end.Add(-2*time.Second).In(time.FixedZone("", 3600)).Format(time.RFC3339)),
			3},
		{"the year 1", "since=0001-01-01T00:00:00Z", 12},
		{"the year 9999", "until=9999-12-31T23:59:59Z", 12},
		{"several", "outcome=error&principal=p0&since=" + at(-8), 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if n := g.countPages(t, c.query); n != c.want {
				t.Errorf("%d calls in pages, want %d", n, c.want)
			}
			if n := len(g.export(t, "root", c.query)); n != c.want {
				t.Errorf("%d calls as lines, want %d", n, c.want)
			}
		})
	}
}

// countPages counts the calls of all pages of three.
func (g *gateway) countPages(t *testing.T, query string) (n int) {
	t.Helper()
	for cursor, pages := "", 0; ; pages++ {
		status, body := g.ask(t, "root", "GET", "/api/v1/calls?limit=3&cursor="+cursor+"&"+query, "")
		var page struct {
			Calls []restapi.Call
			Next  string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || pages > 20 {
			t.Fatalf("page %d: HTTP %d, %v: %s", pages, status, err, body)
		}
		n += len(page.Calls)
		if cursor = page.Next; cursor == "" {
			return n
		}
	}
}

// export reads calls as JSON Lines.
func (g *gateway) export(t *testing.T, who, query string) (calls []restapi.Call) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", g.URL+"/api/v1/calls?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.keys[who])
	req.Header.Set("Accept", "text/html;q=0.5, application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "application/x-ndjson" {
		t.Fatalf("HTTP %d, %s", resp.StatusCode, kind)
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var c restapi.Call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil || c.ID == "" {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		calls = append(calls, c)
	}
	return calls
}

// TestTheFeedAndTheListAgreeOnEveryFilter holds that what is in one is in the other.
func TestTheFeedAndTheListAgreeOnEveryFilter(t *testing.T) {
	g := newGateway(t)
	at := time.Now().UTC().Truncate(time.Second)
	dull := store.Call{Principal: "p0", Profile: "default", Server: "shop", Tool: "shop__x", Outcome: "ok", Level: "info", BytesFull: 10, BytesSent: 10}
	calls := map[string]store.Call{}
	add := func(name string, change func(*store.Call)) {
		c := dull
		c.At = at.Add(time.Duration(len(calls)) * time.Second)
		c.ID = record.FirstID(c.At) + "node"
		change(&c)
		calls[name] = c
	}
	add("dull", func(*store.Call) {})
	add("else", func(c *store.Call) {
		c.Principal, c.Profile, c.Session, c.Agent, c.MCPSession, c.Server, c.Tool = "p1", "orders", "ses_1", "helper", "m1", "cloud", "cloud__y"
		c.Rule, c.Policy, c.Parent, c.Trace = "r1", "deny no-prod", "c_1", "4bf9"
	})
	add("failed", func(c *store.Call) { c.Outcome, c.Level, c.Code = "error", "error", "upstream_timeout" })
	add("warned", func(c *store.Call) { c.Level = "warn" })
	add("repaired", func(c *store.Call) { c.Repairs = `[{"field":"/n","kind":"number"}]` })
	add("cut", func(c *store.Call) { c.BytesSent, c.TokensFull = 5, 9000 })
	add("slow", func(c *store.Call) { c.Duration = 2 * time.Second })
	if err := g.app.Store.AppendCalls(t.Context(), slices.Collect(maps.Values(calls))); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"principal=p1": "else", "profile=orders": "else", "session=ses_1": "else", "agent=helper": "else", "mcp_session=m1": "else",
		"server=cloud": "else", "tool=cloud__y": "else", "rule=r1": "else", "policy=no-prod": "else", "parent=c_1": "else", "trace=4bf9": "else",
		"outcome=error": "failed", "code=upstream_timeout": "failed", "level=error": "failed", "level=warn": "failed warned",
		"repaired=true": "repaired", "cut=true": "cut", "larger=9000": "cut", "slower=2s": "slow", "slower=1ms&repaired=false": "slow",
		"cut=false&level=warn": "failed warned", "slower=2001ms": "", "larger=9001": "",
		"since=" + at.Add(6*time.Second).Format(time.RFC3339): "slow",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		var heard, listed []string
		for _, one := range g.export(t, "root", query) {
			for name, c := range calls {
				if c.ID == one.ID {
					listed = append(listed, name)
				}
			}
		}
		for name, c := range calls {
			if restapi.Matches(q, c) {
				heard = append(heard, name)
			}
		}
		slices.Sort(heard)
		slices.Sort(listed)
		if strings.Join(heard, " ") != want || strings.Join(listed, " ") != want {
			t.Errorf("%s: the feed has %q, the list %q, want %q", query, heard, listed, want)
		}
	}
}

func TestTheOldestComeFirstWhereThatIsAskedFor(t *testing.T) {
	g := newGateway(t)
	g.fill(t, 450, time.Now())
	newest := g.export(t, "root", "")
	oldest := g.export(t, "root", "oldest=true")
	slices.Reverse(newest)
	if len(oldest) != 450 || !slices.EqualFunc(oldest, newest, func(a, b restapi.Call) bool { return a.ID == b.ID }) {
		t.Errorf("%d calls, not the same the other way round", len(oldest))
	}
	status, body := g.ask(t, "root", "GET", "/api/v1/calls?oldest=true&limit=2&cursor="+oldest[7].ID, "")
	var page restapi.CallPage
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || len(page.Calls) != 2 || page.Calls[0].ID != oldest[8].ID ||
		page.Next != oldest[9].ID {
		t.Errorf("HTTP %d, %v: %.300s", status, err, body)
	}
}

func TestExportHasEveryCallOnceNewestFirst(t *testing.T) {
	g := newGateway(t)
	g.fill(t, 2500, time.Now())
	calls := g.export(t, "root", "")
	if len(calls) != 2500 {
		t.Fatalf("%d calls", len(calls))
	}
	for i, c := range calls[1:] {
		if c.ID >= calls[i].ID {
			t.Fatalf("%s comes after %s", c.ID, calls[i].ID)
		}
	}
	if n := len(g.export(t, "root", "limit=1500")); n != 1500 {
		t.Errorf("%d calls, want the 1500 asked for", n)
	}
	if calls := g.export(t, "ann", "principal=p1"); len(calls) != 0 {
		t.Errorf("a caller got %d calls of others", len(calls))
	}
}

func TestBadFiltersAreNamed(t *testing.T) {
	g := newGateway(t)
	for name, query := range map[string]string{
		"an unknown outcome":        "outcome=bad",
		"an unknown level":          "level=loud",
		"neither yes nor no":        "repaired=maybe",
		"a duration that is none":   "slower=soon",
		"a duration of nothing":     "slower=0",
		"a size that is none":       "larger=many",
		"a time that is none":       "since=yesterday",
		"a time whose plus is lost": "until=2026-01-01T00:00:00+01:00",
		"a limit of none":           "limit=0",
		"a limit that is no number": "limit=x",
		"a NUL":                     "server=%00",
		"no UTF-8":                  "cursor=%ff",
		"a broken escape":           "tool=%zz",
		"a semicolon":               "a=1;b=2",
	} {
		t.Run(name, func(t *testing.T) {
			status, body := g.ask(t, "root", "GET", "/api/v1/calls?"+query, "")
			if status != 400 || !strings.Contains(body, "bad_request") {
				t.Errorf("HTTP %d %s", status, body)
			}
		})
	}
}

// find pages through calls, looking at so many for each page. It gives the ids, and how many pages it took.
func (g *gateway) find(t *testing.T, query string, look int) (ids []string, pages int) {
	t.Helper()
	api := g.app.API(func(*http.Request) (access.Principal, error) { return access.Owner(), nil })
	q, err := url.ParseQuery(query)
	for err == nil && pages < 50 {
		var page restapi.CallPage
		page, err = api.ListCalls(t.Context(), access.Owner(), q, look)
		pages++
		for _, c := range page.Calls {
			ids = append(ids, c.ID)
		}
		if page.Next == "" {
			return ids, pages
		}
		q.Set("cursor", page.Next)
	}
	t.Fatalf("%d pages of %s, and no end: %v", pages, query, err)
	return nil, 0
}

func TestASearchThatStopsGoesOnWithTheNextCall(t *testing.T) {
	g := newGateway(t)
	g.fill(t, 12, time.Now())
	for _, query := range []string{"outcome=ok", "outcome=error&server=shop", "trace=none", "principal=p1&cut=false", "tool=shop__fail&principal=p0"} {
		want, _ := g.find(t, query, 0)
		for _, look := range []int{1, 2, 3, 5} {
			if got, _ := g.find(t, query, look); !slices.Equal(got, want) {
				t.Errorf("%s, looking at %d: %v, want %v", query, look, got, want)
			}
		}
	}
}

func TestASearchCountsOnlyTheCallsThatItReads(t *testing.T) {
	g := newGateway(t)
	old := time.Now().Add(-time.Hour)
	rare := store.Call{
		ID: record.FirstID(old) + "node", At: old, Principal: "rare", Session: "ses_rare", Agent: "rare", Server: "rare", Parent: "c_rare",
		Rule: "rare", Tool: "rare__tool", Code: "internal", Outcome: "error", Level: "error",
	}
	if err := g.app.Store.AppendCalls(t.Context(), []store.Call{rare}); err != nil {
		t.Fatal(err)
	}
	g.fill(t, 12, time.Now())
	for _, by := range []string{
		"principal=rare", "session=ses_rare", "agent=rare", "server=rare", "parent=c_rare", "rule=rare", "agent=rare&principal=rare",
		"agent=rare&level=error", "principal=rare&outcome=error",
	} {
		if ids, pages := g.find(t, by+"&code=internal", 5); len(ids) != 1 || pages != 1 {
			t.Errorf("%s: found %d on %d pages", by, len(ids), pages)
		}
	}
}
