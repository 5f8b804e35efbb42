package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// visitor is a person at the console.
type visitor struct {
	*testing.T
	http *http.Client
	url  string
}

// ask opens a page, or sends a form, and returns the page to which that leads.
func (v *visitor) ask(method, path string, form url.Values) (at, page string) {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), method, v.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	if method == "POST" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.http.Do(req)
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		v.Fatalf("%s %s: %d %v\n%s", method, path, resp.StatusCode, err, body)
	}
	return resp.Request.URL.Path, string(body)
}

// sends sends a form, and the page to which it leads must say something.
func (v *visitor) sends(path, says string, fields ...string) (at, page string) {
	v.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	at, page = v.ask("POST", path, form)
	if !strings.Contains(page, says) {
		v.Errorf("%s leads to %s, which does not say %q:\n%s", path, at, says, page)
	}
	return at, page
}

// TestEveryFormOfTheConsoleWorksOverABalancer: each request goes to another replica than the one before.
func TestEveryFormOfTheConsoleWorksOverABalancer(t *testing.T) {
	onStores(t, func(t *testing.T, dsn string) {
		s := newStage(t, dsn)
		urls := s.replicas(t)
		jar, _ := cookiejar.New(nil) // never fails
		v := &visitor{t, &http.Client{Transport: plainHTTP.Transport, Jar: jar, Timeout: patience}, balancer(t, urls...).url}
		v.sends("/sign-in", "/sign-out", "key", s.key, "back", "/servers")
		for i := range 4 { // so that each form meets each replica
			pages := []string{"/", "/servers", "/tools", "/calls", "/results", "/prompt", "/chat", "/environments", "/runs", "/keys"}
			for _, path := range pages[:6+i] {
				v.ask("GET", path, nil)
			}
			name := fmt.Sprint("extra", i)
			v.sends("/servers/add/form", "Added.", "kind", "url", "name", name, "url", s.webURL)
			v.sends("/servers/"+name+"/refresh", "Refreshed.")
			v.sends("/servers/"+name+"/remove", "Server removed")
			v.changeKeys(name)
			v.changeRules(name)
			v.changeSessions(name)
			v.chats(s, urls[i%3])
			v.runs()
			v.sends("/settings", `lang="zh-CN"`, "language", "zh-CN", "back", "/keys")
			v.sends("/settings", `lang="en-US"`, "language", "en-US", "back", "/keys")
			v.sends("/tools/web__browser_snapshot/try", "### Page")
		}
		resp, err := v.http.Post(v.url+"/sign-out", "", nil)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("signed out: %v, %v", resp, err)
		}
		resp.Body.Close()
	})
}

func (v *visitor) changeKeys(name string) {
	v.Helper()
	_, page := v.sends("/keys", "tf_", "name", name, "role", "caller", "profile", "default")
	id := regexp.MustCompile(`tf_([a-z0-9]+)_`).FindStringSubmatch(page)
	if id == nil {
		v.Fatal("no key was shown")
	}
	v.sends("/keys/"+id[1]+"/delete", "Key revoked")
}

func (v *visitor) changeRules(id string) {
	v.Helper()
	v.sends("/results/rules", id, "id", id, "tool", "web__more", "way", "keep", "expression", "items(id)", "mode", "shadow")
	v.sends("/results/rules/"+id+"/mode", id, "mode", "on")
	_, page := v.sends("/results/rules/"+id+"/delete", "deleted")
	if strings.Contains(page, id) {
		v.Errorf("rule %s is still there", id)
	}
}

func (v *visitor) changeSessions(title string) {
	v.Helper()
	at, _ := v.sends("/environments/sessions", title, "title", title)
	v.sends(at+"/rename", "renamed "+title, "title", "renamed "+title)
	v.sends(at+"/delete", "deleted")
}

// chats talks over the balancer, and stops an answer that is being made at one of the replicas.
func (v *visitor) chats(s *stage, replica string) {
	v.Helper()
	v.sends("/chat", "done", "text", "hello", "agent", "helper")
	c := s.beginChat(v.T, replica)
	at := "/chat/" + c.session
	for range 3 {
		if _, page := v.ask("GET", at, nil); !strings.Contains(page, at+"/cancel") {
			v.Errorf("the page does not say that an answer is being made: %s", page)
		}
	}
	v.sends(at+"/cancel", "please wait")
	for data := ""; !strings.Contains(data, "the answer was stopped"); {
		_, data = event(v.T, c.in)
	}
}

func (v *visitor) runs() {
	v.Helper()
	at, _ := v.sends("/runs", "Run started", "steps", "open http://127.0.0.1:1/")
	v.sends(at+"/cancel", "Run canceled")
	eventually(v.T, "the run is interrupted", func() bool {
		_, page := v.ask("GET", at, nil)
		return strings.Contains(page, "interrupted")
	})
	v.ask("GET", at+"/report?format=junit", nil)
	again, _ := v.sends(at+"/again", "Run started")
	v.sends(again+"/cancel", "Run canceled")
}
