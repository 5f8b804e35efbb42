package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestCallWaitsForNoServerButItsOwn(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "mcpServers:\n  shop: {builtin: demo-shop}\n")
	if code, _, stderr := w.run(t, "tools"); code != 0 {
		t.Fatal(stderr)
	}
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(end) })
	put(t, "toolfit.yaml", "mcpServers:\n  shop: {builtin: demo-shop}\n  silent: {url: \""+silent.URL+"\"}\n")
	began := time.Now()
	code, stdout, stderr := w.run(t, "call", "shop__list_orders", "limit=1")
	if code != 0 || !strings.Contains(stdout, "orders") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if took := time.Since(began); took >= 20*time.Second { // for which a list waits
		t.Errorf("it took %s", took)
	}
}

func TestServersSayWhatWasLeftOutOfTheirLists(t *testing.T) {
	var out strings.Builder
	c := &command{env: &Env{Out: &out}}
	err := c.printServers([]restapi.Server{{ID: "much", Kind: "http", State: "up", Tools: 20000,
		Notes: []string{"5 or more tools were left out\x1b[2J"}}}, map[tool.ServerID]int{"much": 20000}, "")
	if err != nil || !strings.HasSuffix(out.String(), "\nmuch: 5 or more tools were left out\\u001b[2J\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
