package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// waits makes a waiting call of somebody's on which nobody works but the test.
func (w *world) waits(owner string) *waiting.Live {
	w.t.Helper()
	l, err := w.app.Waiting.Add(w.t.Context(), store.Waiting{
		ID: w.app.Records.NewID(), Owner: owner, Profile: "default", Server: "shop", Tool: "shop__slow_report", State: store.Working,
		For: store.ForServer, Message: "3 of 10: 正在生成<b>", Expires: time.Now().Add(time.Hour), Body: []byte("{}"),
	}, func(error) {})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.End(context.Background(), store.Cancelled, func(*store.Waiting) {}) })
	return l
}

// asks lets a waiting call ask something, until it ends.
func (w *world) asks(l *waiting.Live, message string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	params, _ := json.Marshal(map[string]string{"message": message})
	go func() {
		defer close(asked)
		l.Ask(ctx, "elicitation/create", params)
	}()
	w.t.Cleanup(func() { cancel(); <-asked })
	w.until("the question", func() bool {
		row, err := l.Row(w.t.Context())
		return err == nil && row.State == store.InputRequired
	})
}

func TestWaitingCallsStandOnTopAndAreCanceled(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	if _, body := p.ask("GET", "/calls", nil); !strings.Contains(body, `hx-get="/calls/waiting"`) || strings.Contains(body, "Waiting calls") {
		t.Errorf("without any: %.300s", body)
	}
	l := w.waits("local")
	for _, path := range []string{"/calls", "/calls/waiting"} {
		_, body := p.ask("GET", path, nil)
		for _, want := range []string{"Waiting calls", "shop__slow_report", "local", "the server", "3 of 10: 正在生成&lt;b&gt;", `action="/calls/` + l.ID + `/cancel"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
	for _, path := range []string{"/calls?tool=x", "/calls?cursor=c_1", "/calls/rows"} {
		if _, body := p.ask("GET", path, nil); strings.Contains(body, "Waiting calls") {
			t.Errorf("%s shows waiting calls", path)
		}
	}
	w.asks(l, "哪个季度？")
	_, body := p.ask("GET", "/calls/"+l.ID, nil)
	for _, want := range []string{"waits for an answer", "Questions", "q1", "elicitation/create", "哪个季度？", "Progress", "正在生成&lt;b&gt;", "Cancel", `hx-get="/calls/` + l.ID + `/now"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of a call lacks %s", want)
		}
	}
	p.header.Set("Referer", w.URL+"/calls?said=x")
	if status, body := p.ask("POST", "/calls/"+l.ID+"/cancel", url.Values{}); status != 200 || !strings.Contains(body, "Call canceled.") ||
		strings.Contains(body, "Waiting calls") {
		t.Errorf("HTTP %d: %.300s", status, body)
	}
	_, body = p.ask("GET", "/calls/"+l.ID, nil)
	if !strings.Contains(body, "the call was canceled") || strings.Contains(body, "data-live") || strings.Contains(body, "/cancel") {
		t.Errorf("after it was canceled: %.300s", body[strings.Index(body, "<main"):])
	}
}

func TestTheResultOfAWaitingCallIsShown(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	p.header.Set("Accept-Language", "zh-CN")
	l := w.waits("local")
	if _, body := p.ask("GET", "/calls", nil); !strings.Contains(body, "等待中的调用") {
		t.Error("not in Chinese")
	}
	if _, body := p.ask("GET", "/calls/"+l.ID+"/now", nil); !strings.Contains(body, "运行中") || strings.Contains(body, "<main") {
		t.Errorf("%.300s", body)
	}
	huge := strings.Repeat("很长", 1<<20)
	l.End(t.Context(), store.Completed, func(w *store.Waiting) {
		w.Answer = []byte(`{"result":{"content":[{"type":"text","text":"` + huge + `"}]}}`)
	})
	status, body := p.ask("GET", "/calls/"+l.ID, nil)
	if status != 200 || !strings.Contains(body, "很长很长") || !strings.Contains(body, "已完成") || len(body) > 1<<20 {
		t.Errorf("HTTP %d, %d bytes", status, len(body))
	}
	if status, body := p.ask("POST", "/calls/"+l.ID+"/cancel", url.Values{}); status != http.StatusConflict || !strings.Contains(body, "已结束") {
		t.Errorf("HTTP %d: %.300s", status, body)
	}
}

func TestWaitingCallsOfOthersAreTheirOwn(t *testing.T) {
	w := newWorld(t, demoConfig)
	l := w.waits("local")
	people := map[string]string{
		"ann": w.key("ann", "orders", access.Caller), "eye": w.key("eye", "default", access.Viewer), "root": w.key("root", "*", access.Admin),
	}
	for _, tt := range []struct {
		who          string
		read, cancel int
		sees, may    bool
	}{{"ann", 404, 404, false, false}, {"eye", 200, 403, true, false}, {"root", 200, 200, true, true}} {
		p := w.person()
		p.signIn(people[tt.who])
		_, list := p.ask("GET", "/calls", nil)
		status, body := p.ask("GET", "/calls/"+l.ID, nil)
		if now, _ := p.ask("GET", "/calls/"+l.ID+"/now", nil); status != tt.read || now != tt.read {
			t.Errorf("%s reads it: HTTP %d and %d", tt.who, status, now)
		}
		if strings.Contains(list, l.ID) != tt.sees || strings.Contains(list, l.ID+"/cancel") != tt.may || strings.Contains(body, l.ID+"/cancel") != tt.may {
			t.Errorf("%s sees more or less than it may", tt.who)
		}
		if status, body := p.ask("POST", "/calls/"+l.ID+"/cancel", url.Values{}); status != tt.cancel {
			t.Errorf("%s cancels it: HTTP %d: %.300s", tt.who, status, body)
		}
	}
	other := w.person()
	other.signIn(people["root"])
	other.header.Set("Origin", "https://evil.example")
	other.header.Set("Sec-Fetch-Site", "cross-site")
	again := w.waits("local")
	if status, _ := other.ask("POST", "/calls/"+again.ID+"/cancel", url.Values{}); status != http.StatusForbidden {
		t.Errorf("another site's page cancels a call: HTTP %d", status)
	}
}
