package picker

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestWhatIsNotUnderstoodEndsNothing(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	p, err := d.dial(w, d.url)
	if err != nil {
		t.Fatal(err)
	}
	p.say(`{"type":"envId","data":"env-a"}`) // before it says who it is
	p.say(`{"type":"refreshEnvList"}`)
	p.say(`{"type":"registerSession","sessionId":"` + w.session + `"}`)
	p.hears(list)
	for _, text := range []string{
		``, `x`, `null`, `[]`, `"envId"`, `{}`, `{"type":"done"}`, `{"type":"ENVID","data":"env-a"}`, `{"Type":"envId","data":"env-a"}`, `{"type":7}`,
		`{"type":"envId"}`, `{"type":"envId","data":""}`, `{"type":"envId","data":7}`, `{"type":"envId","data":["env-a"]}`,
		`{"type":"envId","data":"env-a","cancelled":"no"}`, `{"type":"envId","cancelled":true,"switch":true}`, `{"type":"envId","cancelled":1}`,
		`{"type":"envId","data":"env-a","data":"env-b"}`, `{"type":"x","type":"envId","data":"env-a"}`, `{"type":"envId","data":"env-a"}{}`,
	} {
		p.say(text)
	}
	if err := p.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"envId","data":"env-a"}`)); err != nil {
		t.Fatal(err)
	}
	p.say(`{"type":"envId","data":"env-z"}`) // none of the list
	p.hears(`{"type":"envListRefreshed","envs":` + rows + `,"success":false,"error":"there is no environment env-z in the list"}`)
	if w.isOver() {
		t.Fatalf("the wait ended with %+v", w.choice)
	}
	p.say(`{"type":"envId","data":"env-a"}`)
	p.hears(`{"type":"success","envId":"env-a"}`)
}

func TestAWaitIsBoundToItsCaller(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{Caller: "one"})
	if d.picker.Find(w.Handle(), "two") != nil || d.picker.Find(w.token, "one") != nil || d.picker.Find("", "") != nil {
		t.Error("another caller, or another secret, found it")
	}
	if d.picker.Find(w.Handle(), "one") != w {
		t.Error("its own caller did not find it")
	}
}

func TestOnlyWhomTheOptionsAdmitSeesThePage(t *testing.T) {
	d := newDesk(t, &Options{Admit: func(r *http.Request, caller string) error {
		switch _, key, _ := r.BasicAuth(); key {
		case "key of " + caller:
			return nil
		case "":
			return fault.New(fault.Unauthorized, "a key is needed")
		}
		return fault.New(fault.Forbidden, "not yours")
	}})
	w := d.open(Question{Caller: "one"})
	for header, want := range map[string]int{"": 401, "Basic OmtleSBvZiBvbmU=": 200, "Basic OmtleSBvZiB0d28=": 403} {
		status, body, h := d.get(w.URL(), "Authorization", header)
		if status != want || strings.Contains(body, w.session) != (want == 200) || (h.Get("WWW-Authenticate") != "") != (want == 401) {
			t.Errorf("%q: got %d %s", header, status, body)
		}
	}
}

func TestAPageOfAnotherSiteIsRefused(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	for _, origin := range []string{"http://evil.example.com", "null", "", "http://127.0.0.1:1", "file://", d.url + ".evil.example.com", "ftp" + strings.TrimPrefix(d.url, "http")} {
		if p, err := d.dial(w, origin); err == nil {
			t.Errorf("%q came in: %v", origin, p)
		}
	}
	if !sameOrigin("https://tools.example.com", "10.0.0.1:80", "https://tools.example.com/base/pick") || sameOrigin("http://tools.example.com", "10.0.0.1:80", "https://tools.example.com/pick") {
		t.Error("behind a proxy the origin is that of the address people use")
	}
}

func TestAReplayedTokenIsWorthless(t *testing.T) {
	d := newDesk(t, nil)
	w, second := d.open(Question{}), d.open(Question{})
	p, err := d.dial(second, d.url)
	if err != nil {
		t.Fatal(err)
	}
	p.say(`{"type":"registerSession","sessionId":"` + w.session + `"}`) // of another wait
	p.closes(closedForeign)
	if p, err = d.dial(second, d.url); err != nil {
		t.Fatal(err)
	}
	p.say(`{"type":"registerSession","sessionId":"` + second.token + `"}`) // of the link
	p.closes(closedForeign)
	if second.isOver() {
		t.Fatal("the wait ended")
	}

	p = d.join(w)
	p.hears(list)
	p.say(`{"type":"envId","data":"env-a"}`)
	p.hears(`{"type":"success","envId":"env-a"}`)
	if status, _, _ := d.get(w.URL()); status != http.StatusNotFound {
		t.Errorf("the page is still there: %d", status)
	}
	if _, err := d.dial(w, d.url); err == nil {
		t.Error("the socket is still there")
	}
}

func TestManyPicksAtOnceDoNotMix(t *testing.T) {
	d := newDesk(t, nil)
	var wg sync.WaitGroup
	for i := range 15 {
		id := "env-" + string(rune('a'+i))
		w := d.open(Question{List: give(`[{"EnvId":"` + id + `"}]`)})
		wg.Go(func() {
			p := d.join(w)
			p.hears(`{"type":"envListRefreshed","envs":[{"EnvId":"` + id + `"}],"success":true}`)
			p.say(`{"type":"envId","data":"` + id + `"}`)
			if c, err := w.Result(t.Context()); err != nil || c != (Choice{Picked, id}) {
				t.Errorf("%s: got %+v, %v", id, c, err)
			}
		})
	}
	wg.Wait()
}

func TestOpenPicksAreBounded(t *testing.T) {
	d := newDesk(t, nil)
	var last *Wait
	for range maxOpenOfOne {
		last = d.open(Question{Caller: "one"})
	}
	q := Question{Caller: "one", Timeout: time.Minute, List: give(rows)}
	if _, err := d.picker.Open(q); !fault.Is(err, fault.UpstreamBusy) {
		t.Errorf("got %v", err)
	}
	d.open(Question{Caller: "two"})
	last.End()
	d.open(q)
	w := d.open(Question{Caller: "three"})
	for range maxSockets {
		d.join(w).hears(list)
	}
	if _, err := d.dial(w, d.url); err == nil {
		t.Error("one socket too many came in")
	}
}

func TestAPickerThatIsClosedOrHasNoAddressOpensNothing(t *testing.T) {
	p := New(func() string { return "" }, nil)
	if _, err := p.Open(Question{}); !fault.Is(err, fault.BadConfig) {
		t.Errorf("got %v", err)
	}
	p = New(func() string { return "http://x" }, nil)
	p.Close()
	if _, err := p.Open(Question{}); !fault.Is(err, fault.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestThePageIsStrictAndEscaped(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{Message: `"><script>alert(1)</script>`})
	status, body, h := d.get(w.URL())
	if status != 200 || strings.Contains(body, "<script>alert") || !strings.Contains(body, "&lt;script&gt;alert(1)") {
		t.Errorf("%d %s", status, body)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	} {
		if !strings.HasPrefix(h.Get(name), want) {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	for _, inline := range []string{"<style", "style=", "onclick", "unsafe"} {
		if strings.Contains(body, inline) || strings.Contains(h.Get("Content-Security-Policy"), inline) {
			t.Errorf("%s is in the page", inline)
		}
	}
	for _, name := range []string{"page.js", "page.css", "style.css"} {
		if status, _, h := d.get(d.url + "/pick/" + name); status != 200 || h.Get("ETag") == "" {
			t.Errorf("%s: %d", name, status)
		}
	}
	if strings.Contains(w.URL(), w.session) || strings.Contains(body, w.handle) || strings.Contains(body, w.token) {
		t.Error("a secret stands where another does")
	}
}

func TestPagesAreAsThePersonChoseForAllPages(t *testing.T) {
	d := newDesk(t, nil)
	for cookie, want := range map[string]string{
		"":                   `<html lang="zh-Hans">`,
		"toolfit_theme=dark": `<html lang="zh-Hans" data-theme="dark">`,
		"toolfit_theme=\"><script>; toolfit_language=en-US": `<html lang="en">`,
	} {
		if _, body, _ := d.get(d.url+"/pick/nobody/", "Accept-Language", "zh-CN,zh;q=0.9", "Cookie", cookie); !strings.Contains(body, want) {
			t.Errorf("%s: %.100s", cookie, body)
		}
	}
}

func TestEveryLanguageSaysTheSame(t *testing.T) {
	texts := loadPages().texts
	for name, text := range texts["en"] {
		if text == "" || texts["zh"][name] == "" {
			t.Errorf("%s is not said in every language", name)
		}
	}
	if len(texts) != 2 || len(texts["en"]) != len(texts["zh"]) {
		t.Error("the languages do not say the same")
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"type":"envId","data":"a","cancelled":false}`))
	f.Add([]byte(`{"type":"registerSession","sessionId":"x"}`))
	f.Add([]byte(`{"type":"refreshEnvList"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ok := parseMessage(data)
		if !ok {
			return
		}
		var std struct{ Type string }
		if json.Unmarshal(data, &std) != nil {
			t.Fatalf("%q was understood", data)
		}
		if m.kind == "envId" && (m.envID != "") == (m.canceled || m.switchUser) {
			t.Errorf("%q is %+v", data, m)
		}
	})
}
