package broker

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func (w *world) register(body string) (status int, said map[string]any) {
	w.t.Helper()
	resp, err := http.Post(w.server.URL+"/oauth/register", "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	json.NewDecoder(resp.Body).Decode(&said)
	return resp.StatusCode, said
}

func TestRegistration(t *testing.T) {
	w := newWorld(t, nil)
	for body, want := range map[string]string{
		`{"redirect_uris":["http://127.0.0.1/cb"],"client_name":"编辑器","token_endpoint_auth_method":"client_secret_post"}`: "",
		`{"redirect_uris":["cursor://a/cb"],"grant_types":["authorization_code","refresh_token"],"x":1}`:                  "",
		`{"redirect_uris":[]}`: "invalid_redirect_uri",
		`{}`:                   "invalid_redirect_uri",
		`{"redirect_uris":["http://127.0.0.1/cb","http://evil.example/cb"]}`:            "invalid_redirect_uri",
		`{"redirect_uris":["javascript:alert(1)"]}`:                                     "invalid_redirect_uri",
		`{"redirect_uris":["https://a.example/#x"]}`:                                    "invalid_redirect_uri",
		`{"redirect_uris":"https://a.example/"}`:                                        "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/"],"grant_types":["client_credentials"]}`: "invalid_client_metadata",
		`[]`: "invalid_client_metadata",
		``:   "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/` + strings.Repeat("x", 11<<10) + `"]}`: "invalid_client_metadata",
	} {
		status, said := w.register(body)
		if want == "" && (status != 201 || said["token_endpoint_auth_method"] != "none" || said["client_secret"] != nil) ||
			want != "" && (status != 400 || said["error"] != want) {
			t.Errorf("%.80s: %d %v", body, status, said)
		}
	}
}

func TestRegisteredClientsExpireUnlessTheyAreUsed(t *testing.T) {
	w := newWorld(t, nil)
	_, used := w.register(`{"redirect_uris":["` + back + `"],"client_name":"Used"}`)
	_, unused := w.register(`{"redirect_uris":["` + back + `"]}`)
	w.client = used["client_id"].(string)
	b := w.browser()
	if _, page := b.open(w.request()); !strings.Contains(page, "Nobody vouches for this application") || !strings.Contains(page, "Used") {
		t.Error(page)
	}
	w.exchange(w.code())
	w.pass(newClientTime)
	if status, _ := b.open(w.request()); status != 200 {
		t.Errorf("one that was used: %d", status)
	}
	if status, _ := b.open(w.request("client_id", unused["client_id"].(string))); status != 404 {
		t.Errorf("one that was not: %d", status)
	}
	w.pass(usedClientTime)
	if status, _ := b.open(w.request()); status != 404 {
		t.Errorf("one that was used long ago: %d", status)
	}
}

func TestStrangersAreLimited(t *testing.T) {
	left := 3
	w := newWorld(t, func(p *Parts) {
		p.Limit = func(*http.Request) error {
			if left--; left < 0 {
				return fault.New(fault.RateLimited, "too many")
			}
			return nil
		}
	})
	w.code()
	w.code()
	if status, _ := w.register(`{"redirect_uris":["http://localhost/"]}`); status != 201 {
		t.Error(status)
	}
	if status, said := w.register(`{"redirect_uris":["http://localhost/"]}`); status != 429 || said["error"] != unavailable {
		t.Error(status, said)
	}
	b := w.browser()
	if status, _ := b.allow(w.request()); status != 429 || len(b.sent) != 0 {
		t.Error(status, b.sent)
	}
}
