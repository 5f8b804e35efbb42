package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestArgumentsAreInOneCallAndInExportsButNotInLists(t *testing.T) {
	g := newGateway(t)
	err := g.app.Store.AppendCalls(t.Context(),
		[]store.Call{{ID: "c_1", At: time.Now(),
			Arguments: &store.Arguments{Sent: json.RawMessage(`{"n":"1"}`), Fitted: json.RawMessage(`{"n":1}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/calls/c_1": true, "/calls": false} {
		if status, body := g.ask(t, "root", "GET", "/api/v1"+path, ""); status != 200 ||
			strings.Contains(body, `"fitted":{"n":1}`) != want {
			t.Errorf("%s: HTTP %d: %s", path, status, body)
		}
	}
	if calls := g.export(t, "root", ""); len(calls) != 1 || calls[0].Arguments == nil || string(calls[0].Arguments.Sent) != `{"n":"1"}` {
		t.Errorf("exported %+v", calls)
	}
}

func TestWhatIsBoundHereIsNotForCallers(t *testing.T) {
	g := newGatewayWith(t, "\nresultStore: all\noverrides: [{tool: shop__list_orders, fix: {limit: 3}}]\n")
	status, answer := g.ask(t, "ann", "POST", "/api/v1/tools/shop__list_orders/call", `{"status":"PAID"}`)
	var made restapi.CallAnswer
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Fitted == nil ||
		string(made.Fitted.Arguments) != `{"status":"paid"}` {
		t.Fatalf("HTTP %d: %s", status, answer)
	}
	for who, sees := range map[string]bool{"ann": false, "root": true} {
		for _, path := range []string{"/calls/" + made.ID, "/results/" + made.Ref} {
			if status, body := g.ask(t, who, "GET", "/api/v1"+path, ""); status != 200 || strings.Contains(body, `"limit":3`) != sees {
				t.Errorf("%s at %s: HTTP %d: %s", who, path, status, body)
			}
		}
		calls := g.export(t, who, "")
		if text, _ := json.Marshal(calls); len(calls) != 1 || strings.Contains(string(text), `"limit":3`) != sees {
			t.Errorf("%s exports %s", who, text)
		}
	}
}
