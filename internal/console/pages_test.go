package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestEmptyStateSaysWhatToDoFirst(t *testing.T) {
	p := newWorld(t, "store: t.db\n").person()
	for path, want := range map[string]string{"/": "No servers yet", "/servers": "toolfit import FILE", "/tools": "No tools here", "/calls": "No calls yet", "/keys": "No keys yet"} {
		if status, body := p.ask("GET", path, nil); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: HTTP %d without %q", path, status, want)
		}
	}
}

var links = regexp.MustCompile(` (href|src|action|hx-get|hx-post|ws-connect)="([^"#]*)`)

func TestEveryLinkStaysBelowTheBasePath(t *testing.T) {
	w := newWorld(t, demoConfig+"basePath: /gate\n")
	p := w.person()
	seen := map[string]bool{} // whether it can be read
	for _, path := range []string{"/", "/servers", "/servers/gone", "/tools", "/tools?q=orders", "/tools/shop__list_orders", "/calls", "/keys"} {
		status, body := p.ask("GET", "/gate"+path, nil)
		if status != 200 {
			t.Errorf("%s: HTTP %d", path, status)
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			if at := strings.ReplaceAll(m[2], "&amp;", "&"); !strings.HasPrefix(at, "data:") && at != "" {
				seen[at] = seen[at] || m[1] == "href" || m[1] == "src" || m[1] == "hx-get"
			}
		}
	}
	for at, read := range seen {
		if !strings.HasPrefix(at, "/gate/") {
			t.Errorf("%s leads outside", at)
		}
		if !read {
			continue
		}
		if status, _ := p.ask("GET", at, nil); status != http.StatusOK {
			t.Errorf("%s: HTTP %d", at, status)
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d links were found", len(seen))
	}
	p.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error { return http.ErrUseLastResponse }
	if status, _ := p.ask("POST", "/gate/settings", url.Values{"theme": {"dark"}, "back": {"/tools"}}); status != http.StatusSeeOther {
		t.Errorf("HTTP %d", status)
	}
}

func TestPagesSpeakTheLanguageThatIsAskedFor(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	p.header.Set("Accept-Language", "zh-TW;q=0.9, en;q=0.1")
	if _, body := p.ask("GET", "/", nil); !strings.Contains(body, `<html lang="zh-CN">`) || !strings.Contains(body, "服务器") {
		t.Errorf("not in Chinese: %.300s", body)
	}
	if _, body := p.ask("POST", "/settings", url.Values{"language": {"en"}, "theme": {"light"}, "back": {"/keys"}}); !strings.Contains(body, `<html lang="en-US" data-theme="light">`) || !strings.Contains(body, "New key") {
		t.Errorf("the choice does not win: %.300s", body)
	}
	if _, body := p.ask("POST", "/settings", url.Values{"language": {"xx"}, "theme": {"<b>"}, "back": {"/keys"}}); !strings.Contains(body, `<html lang="en-US" data-theme="light">`) {
		t.Errorf("nonsense is kept: %.300s", body)
	}
}
