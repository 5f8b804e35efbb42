package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestReadersSeeWhatADefinitionWasAndWhoDecided(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	srv, err := g.app.Store.Server(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	for i := range srv.Tools {
		if srv.Tools[i].Name == "get_order" {
			srv.Tools[i].Definition = json.RawMessage(`{"name":"get_order","description":"Now it is short."}`)
		}
	}
	srv.ListedAt = srv.ListedAt.Add(time.Minute)
	if err := g.app.Store.SaveTools(t.Context(), srv); err != nil {
		t.Fatal(err)
	}
	root, err := g.app.Store.Key(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	hash := tool.Hash(json.RawMessage(`{"description":"Now it is short.","name":"get_order"}`))
	d := store.Decision{Kind: "tool", Name: "get_order", Hash: hash, Verdict: store.Approved, By: root.ID, At: srv.ListedAt}
	if err := g.app.Store.Decide(t.Context(), "shop", []store.Decision{d}); err != nil {
		t.Fatal(err)
	}
	status, body := g.ask(t, "eye", "GET", "/api/v1/tools/shop__get_order/history", "")
	var h restapi.ToolHistory
	if err := json.Unmarshal([]byte(body), &h); err != nil || status != 200 || len(h.Versions) != 2 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	now, was := h.Versions[0], h.Versions[1]
	if now.Hash != hash || now.State != "approved" || now.By != "root" || !now.Until.IsZero() || !strings.Contains(string(now.Definition), "short") {
		t.Errorf("now it is %+v", now)
	}
	if was.State != "" || !was.Until.Equal(now.Since) || was.Tokens <= now.Tokens {
		t.Errorf("it was %+v", was)
	}
	for who, want := range map[string]int{"ann": 403, "": 401} {
		if status, body := g.ask(t, who, "GET", "/api/v1/tools/shop__get_order/history", ""); status != want || strings.Contains(body, "short") {
			t.Errorf("%q gets HTTP %d: %s", who, status, body)
		}
	}
}
