package env_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

func TestPagesOfOthersAreRefused(t *testing.T) {
	server, err := env.NewServer(plain{}, &env.Options{Hosts: []string{"tools.example"}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	for _, tt := range []struct {
		name, host, origin string
		refused            bool
	}{
		{"no page", "", "", false},
		{"a page of this machine", "", "http://localhost:5173", false},
		{"a page of somebody else", "", "https://evil.example", true},
		{"a name of somebody else for this machine", "evil.example", "http://evil.example", true},
		{"a name that the options allow, with any port", "tools.example:8443", "https://tools.example:8443", false},
		{"a page of a host that the options allow", "", "https://TOOLS.example", false},
		{"an origin that is none", "", "null", true},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+hello+`}`))
		req.Header.Set("Content-Type", "application/json")
		if tt.host != "" {
			req.Host = tt.host
		}
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if (res.StatusCode == http.StatusForbidden) != tt.refused {
			t.Errorf("%s: got %s", tt.name, res.Status)
		}
	}
}

func TestAttachedToAnotherServerEverythingIsThere(t *testing.T) {
	server, err := env.NewServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Attach(t.Context(), server, &shop{}, &env.Options{Names: env.NamesUnderscore, Agent: "runner"}); err != nil {
		t.Fatal(err)
	}
	if err := env.Attach(t.Context(), server, &shop{}, nil); err == nil {
		t.Error("the same names were attached twice")
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	s := &session{t: t, url: web.URL, header: http.Header{"Content-Type": {"application/json"}}}
	s.post("initialize", hello)
	names := s.listed(`{}`)
	if !slices.Contains(names, "env_query_logs") || !slices.Contains(names, "price") || slices.Contains(names, "fail") {
		t.Errorf("got %v", names)
	}
	if a := s.call("env_get_description", `{}`); a.IsError || !strings.Contains(a.Content[0].Text, "商店") {
		t.Errorf("got %v", a)
	}
	if a := s.call("env/get_description", `{}`); a.IsError || !strings.Contains(a.Content[0].Text, "商店") {
		t.Errorf("by its other name: %v", a)
	}
	if a := s.call("env_query_logs", `{"limit":0}`); !a.IsError {
		t.Errorf("got %v", a)
	}
}
