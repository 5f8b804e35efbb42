package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		bad        bool
	}{
		{name: "user and system time are added", stat: "7 (toolfit) S 1 7 7 0 -1 4194560 900 0 0 0 123 45 6 7 20 0 9 0 100 1 2",
			want: 1680 * time.Millisecond},
		{name: "a name may hold spaces and parentheses", stat: "7 (a) b (c) S 1 7 7 0 -1 4194560 900 0 0 0 1 2 6 7 20 0",
			want: 30 * time.Millisecond},
		{name: "a short line is refused", stat: "7 (toolfit) S 1 7", bad: true},
		{name: "an empty file is refused", stat: "", bad: true},
		{name: "what is no number is refused", stat: "7 (toolfit) S 1 7 7 0 -1 4194560 900 0 0 0 x 45 6", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseCPU([]byte(c.stat))
			if got != c.want && !c.bad || (err != nil) != c.bad {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestPercentileIsAValueThatWasMeasured(t *testing.T) {
	values := []time.Duration{1, 2, 3, 4}
	for p, want := range map[int]time.Duration{1: 1, 50: 2, 99: 4, 100: 4} {
		if got := percentile(values, p); got != want {
			t.Errorf("p%d is %d, want %d", p, got, want)
		}
	}
}

// A client that takes a wrong answer for a good one would measure nothing.
func TestClientAcceptsOnlyTheAnswerToItsOwnCall(t *testing.T) {
	for name, c := range map[string]struct{ era, form string }{
		"legacy, json": {legacy, "json"}, "legacy, sse": {legacy, "sse"}, "modern, json": {modern, "json"}, "modern, sse": {modern, "sse"},
	} {
		t.Run(name, func(t *testing.T) {
			front := httptest.NewServer(newUpstream(c.era, c.form == "sse"))
			defer front.Close()
			proxy := httptest.NewServer(newProxy(&url.URL{Scheme: "http", Host: front.Listener.Addr().String()}))
			defer proxy.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			to := &target{name: "proxy", era: c.era, proc: &process{addr: proxy.Listener.Addr().String()}}
			client, err := open(ctx, to, patience)
			if err != nil {
				t.Fatal(err)
			}
			defer client.close()
			for _, s := range []*scenario{echo(), big(), list()} {
				if err := newCaller(client, s).call(); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
			}
			stranger := newCaller(client, &scenario{method: "tools/call", tool: "big", args: "{}", good: echo().good})
			if err := stranger.call(); !errors.Is(err, errWrong) {
				t.Errorf("a wrong answer gave %v", err)
			}
		})
	}
}
