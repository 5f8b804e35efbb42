package endpoint

import (
	"net/http"
	"testing"
	"time"
)

func TestTheEndpointSaysWhetherToSendAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header string
		want   bool
	}{
		{"busy", 429, "", true},
		{"a conflict", 409, "", true},
		{"too slow", 408, "", true},
		{"a server's error", 500, "", true},
		{"a bad request", 400, "", false},
		{"a redirect that is not followed", 307, "", false},
		{"a server's error that stays", 500, "false", false},
		{"a bad request that may pass", 400, "true", true},
		{"an answer, whatever its header says", 200, "true", false},
	} {
		res := &http.Response{StatusCode: c.status, Header: http.Header{"X-Should-Retry": {c.header}}}
		if got := mayRetry(res); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	if !mayRetry(nil) {
		t.Error("what did not arrive is not sent again")
	}
}

func TestPausesAreThoseThatTheEndpointAsksFor(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	none := time.Duration(-1)
	for _, c := range []struct {
		ms, after string
		want      time.Duration
	}{
		{"20", "3", 20 * time.Millisecond},
		{"", "3", 3 * time.Second},
		{"", "0.5", 500 * time.Millisecond},
		{"", "0", 0},
		{"soon", "3", 3 * time.Second},
		{"", now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{"", now.Add(-time.Minute).Format(http.TimeFormat), 0},
		{"", "1e999", maxAskedFor + 1},
		{"", "1000000000000000000000", maxAskedFor + 1},
		{"", "120", maxAskedFor},
		{"", "-1", none},
		{"", "NaN", none},
		{"", "later", none},
		{"", "", none},
	} {
		got, ok := askedPause(http.Header{"Retry-After-Ms": {c.ms}, "Retry-After": {c.after}}, now)
		if !ok {
			got = none
		}
		if got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.ms, c.after, got, c.want)
		}
	}
}

func TestPausesGrowToALimit(t *testing.T) {
	for try, most := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, 8 * firstPause, maxPause, maxPause} {
		if got := pause(nil, try); got > most || got < most*3/4 {
			t.Errorf("try %d: %s, want at most %s and little less", try, got, most)
		}
	}
}

func TestNobodyWaitsLongerThanTheyMay(t *testing.T) {
	tries := 0
	c, m := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	m.Retries = 5
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	unreached := *m
	unreached.URL = "http://127.0.0.1:1/v1"
	unreached.Timeout = time.Millisecond // less than the pause
	if _, err := c.Ask(t.Context(), &unreached, []byte(`{}`), quiet); err == nil {
		t.Error("there is no answer and no error")
	}
}
