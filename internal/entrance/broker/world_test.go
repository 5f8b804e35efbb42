package broker

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

const back = "http://127.0.0.1:7/callback"

// verifier is what a client keeps to itself between its request and its code.
const verifier = "a-verifier-that-nobody-else-knows-0123456789-abcdef"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// people are those of a store.
type people struct {
	*access.Keys
	*store.Store
}

func (people) Seen(store.Person) {}

// world is a broker with a provider behind it, and a client that is known by a document.
type world struct {
	*Broker
	t        testing.TB
	provider *idp.Provider
	server   *httptest.Server // the broker's
	site     *httptest.Server // of the client
	client   string           // its id
	folder   string           // of the store

	mu       sync.Mutex
	ahead    time.Duration // of the clock
	document func(w http.ResponseWriter, r *http.Request)
	fetches  int
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

func newWorld(t testing.TB, change func(*Parts)) *world {
	t.Helper()
	w := &world{t: t, provider: idp.New(t)}
	w.site = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fetches++
		w.document(rw, r)
	}))
	t.Cleanup(w.site.Close)
	w.client = w.site.URL + "/client.json"
	w.document = w.says(map[string]any{})
	w.folder = t.TempDir()
	st, err := store.Open(t.Context(), filepath.Join(w.folder, "toolfit.db"), &store.Options{Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.Broker.ServeHTTP(rw, r) }))
	t.Cleanup(w.server.Close)
	keys := access.New(st, &access.Options{Now: w.now})
	cfg := []config.Identity{{
		Issuer: w.provider.URL, Scope: "mcp:tools", Login: &config.Login{Name: "Example Login 示例", ClientID: "toolfit", ClientSecret: "s+3"},
		Map: []config.Mapping{{Groups: []string{"eng"}, Profile: "ops"}},
	}}
	p := Parts{
		Config: &config.Broker{Clients: []string{w.site.URL + "/**"}, Registration: true},
		Issuer: w.server.URL, Scopes: []string{"mcp:tools"},
		IsResource:  func(address string) bool { return strings.HasPrefix(address, w.server.URL+"/mcp") },
		People:      identity.New(cfg, &identity.Options{People: people{keys, st}}),
		CheckPerson: keys.CheckPerson, Store: st, Now: w.now,
	}
	if change != nil {
		change(&p)
	}
	w.Broker = New(p)
	return w
}

// says serves a document of the client, with changes.
func (w *world) says(changes map[string]any) func(http.ResponseWriter, *http.Request) {
	return func(rw http.ResponseWriter, r *http.Request) {
		all := map[string]any{"client_id": w.client, "client_name": "Editor", "redirect_uris": []string{back}, "token_endpoint_auth_method": "none"}
		for name, value := range changes {
			all[name] = value
		}
		rw.Header().Set("Content-Type", "application/json")
		json.NewEncoder(rw).Encode(all)
	}
}

// request is a good authorization request, with changes: name and value in turn.
func (w *world) request(changes ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {w.client}, "redirect_uri": {back}, "state": {"its state"}, "scope": {"mcp:tools openid"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"}, "resource": {w.server.URL + "/mcp"},
	}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "" {
			q.Del(changes[i])
			continue
		}
		q.Set(changes[i], changes[i+1])
	}
	return w.server.URL + "/oauth/authorize?" + q.Encode()
}

// browser is one that follows redirects, but not to clients.
type browser struct {
	*http.Client
	w    *world
	sent []string // where it was redirected to that is neither the broker nor the provider
}

func (w *world) browser() *browser {
	jar, _ := cookiejar.New(nil)
	b := &browser{w: w}
	b.Client = &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if !b.knows(r.URL.String()) {
			b.sent = append(b.sent, r.URL.String())
			return http.ErrUseLastResponse
		}
		if len(via) > 20 {
			return errors.New("too many redirects")
		}
		return nil
	}}
	return b
}

func (b *browser) knows(address string) bool {
	return strings.HasPrefix(address, b.w.server.URL+"/") || strings.HasPrefix(address, b.w.provider.URL+"/")
}

// do sends a request and returns status and body.
func (b *browser) do(r *http.Request) (int, string) {
	b.w.t.Helper()
	resp, err := b.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (b *browser) open(address string) (int, string) {
	b.w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return b.do(r)
}

var onward = regexp.MustCompile(`content="0; url=([^"]*)"`)

// click sends the form of the page, and goes on as the answer says.
func (b *browser) click(address string, form url.Values) (int, string) {
	b.w.t.Helper()
	r, _ := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.w.server.URL)
	status, body := b.do(r)
	found := onward.FindStringSubmatch(body)
	if found == nil {
		return status, body
	}
	next := strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(found[1])
	if !b.knows(next) {
		b.sent = append(b.sent, next)
		return status, body
	}
	return b.open(next)
}

// allow clicks for a provider.
func (b *browser) allow(address string) (int, string) {
	b.w.t.Helper()
	return b.click(address, url.Values{"issuer": {b.w.provider.URL}})
}

// answered is what the client got last.
func (b *browser) answered() url.Values {
	b.w.t.Helper()
	if len(b.sent) == 0 {
		b.w.t.Fatal("the client got nothing")
	}
	u, err := url.Parse(b.sent[len(b.sent)-1])
	if err != nil {
		b.w.t.Fatal(err)
	}
	return u.Query()
}

// code signs somebody in and returns the code.
func (w *world) code(changes ...string) string {
	w.t.Helper()
	b := w.browser()
	status, body := b.allow(w.request(changes...))
	code := b.answered().Get("code")
	if code == "" {
		w.t.Fatalf("no code: %d %s %v", status, body, b.sent)
	}
	return code
}

// tokens is an answer of the token endpoint.
type tokens struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Scope     string `json:"scope"`
	Error     string `json:"error"`
}

func (w *world) post(path string, form url.Values) (int, tokens) {
	w.t.Helper()
	resp, err := http.PostForm(w.server.URL+path, form)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var got tokens
	json.NewDecoder(resp.Body).Decode(&got)
	if resp.Header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("%s may be cached", path)
	}
	return resp.StatusCode, got
}

// exchange exchanges a code, with changes to the request.
func (w *world) exchange(code string, changes ...string) tokens {
	w.t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {w.client}, "redirect_uri": {back}, "code_verifier": {verifier},
	}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	_, got := w.post("/oauth/token", form)
	return got
}

func (w *world) refresh(token string, changes ...string) tokens {
	w.t.Helper()
	return w.exchange("", append([]string{"grant_type", "refresh_token", "refresh_token", token}, changes...)...)
}

// admits tells whether a token opens the resource.
func (w *world) admits(token string) bool {
	w.t.Helper()
	who, err := w.Admit(context.Background(), token, w.server.URL+"/mcp")
	if err == nil && (who.Profile != "ops" || who.Kind != access.KindUser) {
		w.t.Errorf("%+v", who)
	}
	return err == nil
}

// readStore returns all bytes of the store's files.
func readStore(t *testing.T, w *world) string {
	t.Helper()
	files, _ := filepath.Glob(w.folder + "/*")
	var all strings.Builder
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil {
			all.Write(raw)
		}
	}
	return all.String()
}

// newSite serves on this machine and returns its address.
func newSite(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
