package restapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

// work stores calls of ann and bob, one a minute, up to now.
func (g *gateway) work(t *testing.T) {
	t.Helper()
	var calls []store.Call
	for i := range 30 {
		at := time.Now().Add(time.Duration(-i) * time.Minute)
		c := store.Call{
			ID: record.FirstID(at) + "node", At: at, Principal: g.principalOf([]string{"ann", "bob"}[i%2]), Server: "shop",
			Tool: tool.Name(fmt.Sprint("shop__t", i%3)), Outcome: "ok", Level: "info", Duration: time.Duration(i) * time.Second, TokensSent: 5, TokensFull: 20,
		}
		if i%3 == 2 {
			c.Server, c.Outcome, c.Level, c.TokensSent = "cloud", "error", "error", 90
		}
		calls = append(calls, c)
	}
	if err := g.app.Store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
}

func (g *gateway) activity(t *testing.T, who, query string) (a restapi.Activity) {
	t.Helper()
	status, body := g.ask(t, who, "GET", "/api/v1/activity"+query, "")
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != http.StatusOK {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	return a
}

func TestActivityIsOfAllOrOfTheCallerAlone(t *testing.T) {
	g := newGateway(t)
	g.work(t)
	for who, want := range map[string]int64{"root": 30, "eye": 30, "ann": 15, "bob": 15} {
		a := g.activity(t, who, "")
		var spans, series int64
		for _, s := range a.Spans {
			spans += s.Calls
		}
		for _, s := range a.Series {
			for _, n := range s.Calls {
				series += n
			}
		}
		if a.Total.Calls != want || spans != want || series != want || len(a.Spans) != 60 || a.Step != 60 {
			t.Errorf("%s: %d calls, %d in %d spans, %d in series", who, a.Total.Calls, spans, len(a.Spans), series)
		}
	}
	if a := g.activity(t, "root", "?range=15m&by=outcome"); len(a.Spans) != 60 || a.Total.Calls < 14 || a.Total.Calls > 15 ||
		len(a.Series) != 2 || a.Series[0].Key != "ok" || a.Total.Errors*2 >= a.Total.Calls {
		t.Errorf("by outcome: %+v", a)
	}
}

func TestTopToolsComeInTheOrderThatIsAskedFor(t *testing.T) {
	g := newGateway(t)
	g.work(t)
	for query, want := range map[string]tool.Name{"": "shop__t0", "?sort=errors": "shop__t2", "?sort=tokens": "shop__t2", "?sort=time": "shop__t2"} {
		if a := g.activity(t, "eye", query); len(a.Tools) != 3 || a.Tools[0].Tool != want {
			t.Errorf("%s: %+v", query, a.Tools)
		}
	}
	if a := g.activity(t, "eye", "?limit=1&range=7d"); len(a.Tools) != 1 || a.Tools[0].Calls != 10 || a.Tools[0].TokensFull != 200 {
		t.Errorf("%+v", a.Tools)
	}
}

func TestAgentsWhoseCallsFailAreNamed(t *testing.T) {
	g := newGateway(t)
	var calls []store.Call
	for i := range 12 {
		at := time.Now().Add(time.Duration(-i) * time.Minute)
		c := store.Call{
			ID: record.FirstID(at) + "node", At: at, Principal: g.principalOf("ann"), Agent: "filed", Server: "shop", Tool: "shop__t", Outcome: "ok", Level: "info",
		}
		if i < 7 {
			c.Outcome, c.Level = "error", "error"
		}
		calls = append(calls, c)
	}
	if err := g.app.Store.AppendCalls(t.Context(), calls[9:]); err != nil {
		t.Fatal(err)
	}
	api := g.app.API(nil)
	failing := func(who string) int {
		p, err := g.app.Keys.Authenticate(t.Context(), g.keys[who])
		if err != nil {
			t.Fatal(err)
		}
		found, err := api.FailingAgents(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, a := range found {
			if a.ID == "filed" && a.Reason == "" {
				n = a.Failed
			}
		}
		return n
	}
	if n := failing("root"); n != 0 {
		t.Errorf("%d of 3 calls failed, says it", n)
	}
	if err := g.app.Store.AppendCalls(t.Context(), calls[:9]); err != nil {
		t.Fatal(err)
	}
	if n := failing("root"); n != 7 {
		t.Errorf("7 of 12 calls failed, it says %d", n)
	}
	if n := failing("bob"); n != 0 {
		t.Errorf("bob hears of calls of ann: %d", n)
	}
}
