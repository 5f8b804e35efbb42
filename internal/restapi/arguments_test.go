package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/store"
)

func TestArgumentsAreInOneCallAndInExportsButNotInLists(t *testing.T) {
	g := newGateway(t)
	err := g.app.Store.AppendCalls(t.Context(), []store.Call{{ID: "c_1", At: time.Now(), Arguments: &store.Arguments{Sent: json.RawMessage(`{"n":"1"}`), Fitted: json.RawMessage(`{"n":1}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/calls/c_1": true, "/calls": false} {
		if status, body := g.ask(t, "root", "GET", "/api/v1"+path, ""); status != 200 || strings.Contains(body, `"fitted":{"n":1}`) != want {
			t.Errorf("%s: HTTP %d: %s", path, status, body)
		}
	}
	if calls := g.export(t, "root", ""); len(calls) != 1 || calls[0].Arguments == nil || string(calls[0].Arguments.Sent) != `{"n":"1"}` {
		t.Errorf("exported %+v", calls)
	}
}
