package restapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/record"
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
