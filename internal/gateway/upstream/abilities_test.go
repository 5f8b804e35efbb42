package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// TestServersAreToldTheExtensionsOfTheirClients: lists are read with those that servers look at, and a call comes with the
// client's own.
func TestServersAreToldTheExtensionsOfTheirClients(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string // extensions, by each session that was opened
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		if m.Method == "initialize" {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, string(rawjson.Get(m.Params, "capabilities", "extensions")))
		}
		answerPersonal(w, &m)
	}))
	t.Cleanup(srv.Close)
	p, _ := newPool(t, nil, config.Server{ID: "s", URL: srv.URL, Timeout: patience, Start: patience})
	p.Ask(t.Context(), "s", "ping", nil) // what it answers does not matter
	const own = `{"a":{},"b":{"n":9007199254740993}}`
	for _, capabilities := range []string{`{"extensions":` + own + `}`, `{"extensions":{"b":{"n":9007199254740993}, "a":{}}}`, `{}`} {
		from := mcp.Speaker{Era: mcp.Legacy, Capabilities: json.RawMessage(capabilities)}
		if _, err := p.Call(t.Context(), Call{Server: "s", Tool: "x", Params: []byte(`{"name":"x"}`), From: from}); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 3 || !strings.Contains(told[0], mcp.ExtensionApps) || told[1] != own || told[2] != "" {
		t.Errorf("told %q", told)
	}
}

func TestASharedProcessIsToldThatAppsCanBeRendered(t *testing.T) {
	s := &server{cfg: config.Server{Command: "x"}}
	if caps := s.sharedSeat(caller{asks: nothing}).caps; !mcp.Declares(caps, mcp.ExtensionApps) || mcp.CanBeAsked(caps) {
		t.Errorf("it is told %s", caps)
	}
}

// TestWhatAModernServerIsToldIsJSON: only roots lose what the era does not have.
func TestWhatAModernServerIsToldIsJSON(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{"extensions":{"x":{"listChanged":true,"a":1}}}`:                        `{"extensions":{"x":{"a":1,"listChanged":true}}}`,
		`{"roots":{"listChanged":true},"extensions":{"x":{"listChanged":true}}}`: `{"roots":{},"extensions":{"x":{"listChanged":true}}}`,
	} {
		if got := declared(mcp.Speaker{Era: mcp.Legacy, Capabilities: json.RawMessage(capabilities)}); string(got) != want {
			t.Errorf("%s: %s", capabilities, got)
		}
	}
}

// TestSessionsWithOtherExtensionsCountForWhoOpensThem: else one caller could take all.
func TestSessionsWithOtherExtensionsCountForWhoOpensThem(t *testing.T) {
	s := &server{cfg: config.Server{ID: "s", URL: "http://x"}, sessions: map[string]*session{}}
	for i := range share.Of(maxSeats) {
		asks := askable(json.RawMessage(fmt.Sprintf(`{"extensions":{"x":{"n":%d}}}`, i)))
		seat := s.sharedSeat(caller{owner: "eve", asks: asks})
		s.sessions[seat.key] = &session{server: s, seat: seat, inflight: 1}
	}
	if err := s.makeSeat("eve"); !fault.Is(err, fault.UpstreamBusy) {
		t.Errorf("eve has %d sessions and gets one more: %v", len(s.sessions), err)
	}
	if err := s.makeSeat("ann"); err != nil {
		t.Error(err)
	}
}
