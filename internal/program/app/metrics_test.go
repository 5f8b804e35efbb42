package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

func TestACollectorWithAKeyReadsMetricsByAnyAddress(t *testing.T) {
	a, _ := start(t, one)
	keys := map[access.Role]string{}
	for _, role := range []access.Role{access.Viewer, access.Caller} {
		text, row, err := access.NewKey(string(role), "default", role, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Store.CreateKey(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		keys[role] = text
	}
	if err := a.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, key, origin string
		want              int
	}{
		{"a key that may read", keys[access.Viewer], "", http.StatusOK},
		{"a key that may call", keys[access.Caller], "", http.StatusForbidden},
		{"a page of another site", keys[access.Viewer], "http://10.1.2.3:30779", http.StatusForbidden},
		{"another key", "tf_x_y", "", http.StatusUnauthorized},
		{"no key", "", "", http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/metrics", nil)
			r.Host = "10.1.2.3:30779"
			r.RemoteAddr = "10.9.9.9:5"
			if c.key != "" {
				r.Header.Set("Authorization", "Bearer "+c.key)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			if a.Handler().ServeHTTP(w, r); w.Code != c.want {
				t.Errorf("%d %.200s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

func TestCallersOverTheirRateAreCountedAsRefused(t *testing.T) {
	a, _ := start(t, one+"rate: {perKey: 1/h, burst: 1}\n")
	ask := func(path string) string {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		return w.Body.String()
	}
	for range 3 {
		ask("/api/v1/tools")
	}
	if text := ask("/metrics"); !strings.Contains(text, `toolfit_refused_total{reason="rate"} 2`+"\n") {
		t.Errorf("two of three requests were too many:\n%s", text)
	}
}
