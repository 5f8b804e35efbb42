package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestOneToolTellsWhatItReturns(t *testing.T) {
	g := newGatewayWith(t, "\nresultStore: all\n")
	for _, who := range []string{"ann", "bob", "ann"} {
		if status, answer := g.ask(t, who, "POST", "/api/v1/tools/shop__list_orders/call", `{"limit":2}`); status != 200 {
			t.Fatalf("HTTP %d: %s", status, answer)
		}
	}
	for _, who := range []string{"ann", "eye"} {
		status, body := g.ask(t, who, "GET", "/api/v1/tools/shop__list_orders", "")
		var one restapi.Tool
		if err := json.Unmarshal([]byte(body), &one); err != nil || one.Result == nil || one.Result.Seen != 3 ||
			!strings.HasPrefix(one.Result.Type, "{orders: {") || strings.Contains(one.Result.Type, "9007199") {
			t.Errorf("%s: HTTP %d: %s", who, status, body)
		}
	}
	if _, body := g.ask(t, "eye", "GET", "/api/v1/tools", ""); strings.Contains(body, `"result":`) {
		t.Errorf("a list tells it too: %s", body)
	}
}
