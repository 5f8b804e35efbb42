package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

// asAdmin asks the REST API as one who may do everything.
func asAdmin(t *testing.T, a *App) func(method, path, body string) string {
	api := a.API(func(*http.Request) (access.Principal, error) { return access.Owner(), nil })
	return func(method, path, body string) string {
		t.Helper()
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body)).WithContext(t.Context()))
		return w.Body.String()
	}
}

func TestAHostThatADescriptionMovesToGetsNothingUntilItIsApproved(t *testing.T) {
	var got atomic.Pointer[string]
	service := func() *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := r.Host + " " + r.Header.Get("X-Key")
			got.Store(&key)
			io.WriteString(w, "{}")
		}))
		t.Cleanup(s.Close)
		return s
	}
	first := service()
	other := service()
	var server atomic.Value
	server.Store(first.URL)
	described := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"openapi":"3.0.3","info":{"title":"Pets","version":"1"},"servers":[{"url":%q}],
			"paths":{"/pets":{"get":{"operationId":"pets","responses":{"200":{"description":"ok"}}}}}}`, server.Load())
	}))
	t.Cleanup(described.Close)
	text := fmt.Sprintf("store: t.db\napprove: auto\napis:\n  pets: {spec: %q, headers: {X-Key: s3cret-s3cret}, allow: [127.0.0.0/8]}\n",
		described.URL+"/openapi.json")
	a, log := start(t, text)
	ask := asAdmin(t, a)
	call := func(want string, wantAt *httptest.Server) {
		t.Helper()
		got.Store(nil)
		answer := ask("POST", "/tools/pets__pets/call", "{}")
		reached := got.Load()
		if !strings.Contains(answer, want) || (wantAt == nil) != (reached == nil) ||
			wantAt != nil && *reached != strings.TrimPrefix(wantAt.URL, "http://")+" s3cret-s3cret" {
			t.Errorf("got %s, and %v was reached", answer, reached)
		}
	}
	ask("GET", "/tools", "") // the first list
	call(`"result"`, first)

	server.Store(other.URL)
	if answer := ask("POST", "/servers/pets/refresh", ""); !strings.Contains(answer, `"held":["host:`+other.URL+`"]`) {
		t.Errorf("the host is not listed: %s", answer)
	}
	if !strings.Contains(log.String(), other.URL) || !strings.Contains(log.String(), "toolfit servers approve pets") {
		t.Errorf("the host is not logged: %s", log)
	}
	call("toolfit servers approve pets", nil)

	if answer := ask("POST", "/servers/pets/approve", ""); !strings.Contains(answer, `"approved":1`) {
		t.Errorf("got %s", answer)
	}
	call(`"result"`, other)
	server.Store(first.URL)
	ask("POST", "/servers/pets/refresh", "")
	call(`"result"`, first) // it was approved before
}

func TestBesideABaseEvenTheFirstDescriptionsHostsWaitForApproval(t *testing.T) {
	var reached atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reached.Add(1); io.WriteString(w, "{}") }))
	described := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"openapi":"3.0.3","info":{"title":"Pets","version":"1"},"paths":{"/a":{"get":{"operationId":"a","responses":{}}},
			"/b":{"servers":[{"url":%q}],"get":{"operationId":"b","responses":{}}}}}`, other.URL)
	}))
	for _, s := range []*httptest.Server{api, other, described} {
		t.Cleanup(s.Close)
	}
	a, _ := start(t, fmt.Sprintf("store: t.db\napprove: auto\napis:\n  pets: {spec: %q, base: %q, allow: [127.0.0.0/8]}\n", described.URL,
		api.URL))
	ask := asAdmin(t, a)
	if answer := ask("POST", "/servers/pets/refresh", ""); !strings.Contains(answer, `"held":["host:`+other.URL+`"]`) {
		t.Errorf("the host is not held: %s", answer)
	}
	if answer := ask("POST", "/tools/pets__a/call", "{}"); !strings.Contains(answer, `"result"`) {
		t.Errorf("base itself is asked about: %s", answer)
	}
	if answer := ask("POST", "/tools/pets__b/call", "{}"); !strings.Contains(answer, "is not approved") || reached.Load() != 0 {
		t.Errorf("got %s", answer)
	}
	ask("POST", "/servers/pets/approve", "")
	if answer := ask("POST", "/tools/pets__b/call", "{}"); !strings.Contains(answer, `"result"`) || reached.Load() != 1 {
		t.Errorf("got %s", answer)
	}
}

func TestAnApprovedHostOutlivesARestartAndAnEmptyList(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	t.Cleanup(api.Close)
	var paths atomic.Value
	operation := func(server string) string {
		return fmt.Sprintf(`"/pets":{"servers":[{"url":%q}],"get":{"operationId":"pets","responses":{"200":{"description":"ok"}}}}`, server)
	}
	described := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"openapi":"3.0.3","info":{"title":"Pets","version":"1"},"paths":{%s}}`, paths.Load())
	}))
	t.Cleanup(described.Close)
	store := t.TempDir() + "/t.db"
	run := func(server, want string) {
		t.Helper()
		paths.Store(server)
		a, _ := start(t, fmt.Sprintf("store: %q\napis:\n  pets: {spec: %q, allow: [127.0.0.0/8]}\n", store, described.URL))
		ask := asAdmin(t, a)
		ask("POST", "/servers/pets/refresh", "")
		if answer := ask("POST", "/tools/pets__pets/call", "{}"); !strings.Contains(answer, want) {
			t.Errorf("got %s, want %s", answer, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	run(operation(api.URL), `"result"`)
	run(operation(api.URL), `"result"`)
	run("", "unknown_tool")
	run(operation("http://127.0.0.1:1"), "which is not approved")
	run(operation(api.URL), `"result"`)
}
