package broker

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestRedirectURITricks(t *testing.T) {
	w := newWorld(t, nil)
	w.document = w.says(map[string]any{"redirect_uris": []string{
		"https://app.example/cb", "https://app.example/with?a=b", "http://127.0.0.1:3000/cb", "http://localhost/cb", "http://[::1]/cb", "app.example:/x",
		"cursor://anysphere.cursor/cb", "javascript:alert(1)", "javascript://app.example/%0aalert(1)", "data:text/html,x", "https://*.example/cb",
		"https://me@app.example/cb", "https://app.example/frag#x", "http://app.example/cb", "//app.example/cb", "/cb", "", "https://", "file:///etc/passwd",
	}})
	for _, good := range []string{
		"https://app.example/cb", "https://app.example/with?a=b", "http://127.0.0.1:3000/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1/cb",
		"http://localhost:65535/cb", "http://[::1]:8/cb", "cursor://anysphere.cursor/cb",
	} {
		b := w.browser()
		if status, page := b.allow(w.request("redirect_uri", good)); len(b.sent) != 1 || !strings.HasPrefix(b.sent[0], good) || b.answered().Get("code") == "" {
			t.Errorf("%s: %d %v %s", good, status, b.sent, page)
		}
	}
	for _, bad := range []string{
		"https://app.example/cb/", "https://app.example/cb/x", "https://app.example/cb?x=1", "https://app.example/cb#x", "https://app.example/cb%00",
		"https://app.example/CB", "https://APP.example/cb", "HTTPS://app.example/cb", "https://app.example:443/cb", "https://app.example./cb",
		"https://app.example/./cb", "https://app.example/x/../cb", "https://app.example//cb", "https://app.example/%63b", "https://app.example\\cb",
		"https://app.example@evil.example/cb", "https://evil.example@app.example/cb", "https://app.example.evil.example/cb", "https://evil.example/cb",
		"https://evil.example/?https://app.example/cb", "https://evilapp.example/cb", "http://app.example/cb", "//app.example/cb", "app.example/cb",
		"https://app.example/with", "https://app.example/with?a=b&c=d", "https://app.example/with?a=b#", "https://x.example/cb", "https://*.example/cb",
		"http://127.0.0.1:3000/cb/x", "http://127.0.0.1:3000@evil.example/cb", "http://127.0.0.1.evil.example/cb", "http://127.0.0.1:99999999/cb",
		"http://127.0.0.1:/cb", "http://127.0.0.1:80x/cb", "http://127.0.0.2/cb", "http://2130706433/cb", "http://127.1/cb", "http://[::ffff:127.0.0.1]/cb",
		"https://127.0.0.1:3000/cb", "http://localhost.evil.example/cb", "http://localhost:1:2/cb", "http://LOCALHOST/cb", "http://localhost/cb?x",
		"javascript:alert(1)", "javascript://app.example/%0aalert(1)", "data:text/html,x", "file:///etc/passwd", "https://me@app.example/cb",
		"https://app.example/frag#x", " https://app.example/cb", "https://app.example/cb ", "https://app.example/cb\r\nSet-Cookie: x=y", "cursor://evil/cb",
		"cursor:anysphere.cursor/cb", "https://app.example/cb\t", "https://ａpp.example/cb", "https://app.example/cb;x", "/cb", "http://[::1%25lo]/cb",
	} {
		b := w.browser()
		for _, try := range []func() (int, string){
			func() (int, string) { return b.open(w.request("redirect_uri", bad)) },
			func() (int, string) { return b.allow(w.request("redirect_uri", bad)) },
			func() (int, string) { return b.click(w.request("redirect_uri", bad), url.Values{"refuse": {"1"}}) },
		} {
			if status, _ := try(); status != 400 || len(b.sent) != 0 {
				t.Errorf("%q: %d %v", bad, status, b.sent)
			}
		}
	}
	b := w.browser()
	twice := w.request("redirect_uri", "https://app.example/cb") + "&redirect_uri=https://evil.example/"
	if status, _ := b.allow(twice); status != 400 || len(b.sent) != 0 {
		t.Errorf("two of them: %d %v", status, b.sent)
	}
}

func TestWrongRequestsStayOnOurPage(t *testing.T) {
	w := newWorld(t, nil)
	for name, changes := range map[string][]string{
		"no PKCE":               {"code_challenge", "", "code_challenge_method", ""},
		"plain PKCE":            {"code_challenge_method", "plain"},
		"PKCE without a method": {"code_challenge_method", ""},
		"a short challenge":     {"code_challenge", "abc"},
		"a token":               {"response_type", "token"},
		"a hybrid":              {"response_type", "code id_token"},
		"no type":               {"response_type", ""},
		"a fragment":            {"response_mode", "fragment"},
		"a form":                {"response_mode", "form_post"},
		"a request object":      {"request", "x.y.z"},
		"a request elsewhere":   {"request_uri", "https://evil.example/"},
		"no client":             {"client_id", ""},
		"no redirect URI":       {"redirect_uri", ""},
		"another resource":      {"resource", "https://evil.example/mcp"},
		"another's resource":    {"resource", w.server.URL + ".evil.example/mcp"},
		"a long state":          {"state", strings.Repeat("x", 3000)},
		"a very long one":       {"x", strings.Repeat("x", 9000)},
		"a client not allowed":  {"client_id", "https://evil.example/client.json"},
		"a client unregistered": {"client_id", "client_nobody"},
		"a client by name":      {"client_id", "editor"},
		"a client with dots":    {"client_id", w.site.URL + "/../client.json"},
		"a client with a query": {"client_id", w.site.URL + "/client.json?x"},
		"a client by FTP":       {"client_id", "ftp://127.0.0.1/client.json"},
	} {
		b := w.browser()
		if status, page := b.allow(w.request(changes...)); status < 400 || status >= 500 || len(b.sent) != 0 || !strings.Contains(page, "<h1>") {
			t.Errorf("%s: %d %v", name, status, b.sent)
		}
	}
	b := w.browser()
	for _, name := range []string{"client_id", "state", "code_challenge", "resource", "response_type"} {
		if status, _ := b.allow(w.request() + "&" + name + "=x"); status != 400 || len(b.sent) != 0 {
			t.Errorf("two %s: %d %v", name, status, b.sent)
		}
	}
	if status, _ := b.allow(w.request() + "&a;b=%zz"); status != 400 {
		t.Errorf("not a query: %d", status)
	}
}

func TestHostileDocuments(t *testing.T) {
	w := newWorld(t, nil)
	raw := func(kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", kind)
			fmt.Fprint(rw, body)
		}
	}
	for name, c := range map[string]struct {
		document func(http.ResponseWriter, *http.Request)
		says     string
	}{
		"another's":                {w.says(map[string]any{"client_id": "https://claude.ai/client.json"}), "about another application"},
		"almost its own":           {w.says(map[string]any{"client_id": w.client + "/"}), "about another application"},
		"nobody's":                 {w.says(map[string]any{"client_id": nil}), "about another application"},
		"with a secret":            {w.says(map[string]any{"client_secret": "x"}), "with a secret"},
		"that wants a secret":      {w.says(map[string]any{"token_endpoint_auth_method": "client_secret_post"}), "with a secret"},
		"with a key":               {w.says(map[string]any{"token_endpoint_auth_method": "private_key_jwt"}), "with a secret"},
		"without redirect URIs":    {w.says(map[string]any{"redirect_uris": []string{}}), "no redirect URI"},
		"with bad redirect URIs":   {w.says(map[string]any{"redirect_uris": []string{"javascript:alert(1)", "http://evil.example"}}), "no redirect URI"},
		"with too many":            {w.says(map[string]any{"redirect_uris": strings.Split(strings.Repeat("http://localhost/ ", 60), " ")}), "too many"},
		"of the wrong kind":        {w.says(map[string]any{"redirect_uris": "https://app.example/cb"}), "not a JSON object"},
		"for machines":             {w.says(map[string]any{"grant_types": []string{"client_credentials"}}), "does not use codes"},
		"a list":                   {raw("application/json", `[]`), "not a JSON object"},
		"nothing":                  {raw("application/json", ``), "not a JSON object"},
		"a web page":               {raw("text/html", `{"client_id":"`+w.client+`"}`), "not JSON"},
		"deep":                     {raw("application/json", strings.Repeat("[", 9000)), "not a JSON object"},
		"huge":                     {raw("application/json", `{"client_name":"`+strings.Repeat("x", 11<<10)+`"}`), "too long"},
		"a redirect":               {func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/other.json", http.StatusFound) }, "it answered 302"},
		"an error":                 {func(rw http.ResponseWriter, r *http.Request) { http.Error(rw, "no", http.StatusTeapot) }, "it answered 418"},
		"an end in the middle":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "could not be fetched"},
		"a name with hidden words": {w.says(map[string]any{"client_name": "A\u202eB<script>"}), ""},
	} {
		w.pass(wrongFresh + usualFresh)
		w.mu.Lock()
		w.document = c.document
		w.mu.Unlock()
		b := w.browser()
		status, page := b.open(w.request())
		switch {
		case c.says == "" && (status != 200 || strings.Contains(page, "\u202e") || strings.Contains(page, "<script>")):
			t.Errorf("a document %s: %d %s", name, status, page)
		case c.says != "" && (status < 400 || !strings.Contains(page, c.says)):
			t.Errorf("a document %s: %d %s", name, status, page)
		}
	}
	w.pass(wrongFresh + usualFresh)
	w.fetches = 0
	w.document = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "no-store, max-age=0")
		w.says(nil)(rw, r)
	}
	for range 5 {
		w.browser().open(w.request())
	}
	if w.pass(59 * time.Second); w.fetches != 1 {
		t.Errorf("it was fetched %d times", w.fetches)
	}
	w.browser().open(w.request())
	w.pass(time.Second)
	if w.browser().open(w.request()); w.fetches != 2 {
		t.Errorf("it was fetched %d times", w.fetches)
	}
}

func TestSlowDocumentsAreFewAndGivenUp(t *testing.T) {
	w := newWorld(t, nil)
	arrived := make(chan struct{}, 100)
	wait := make(chan struct{})
	slow := newSite(t, func(rw http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-wait
	})
	defer close(wait)
	w.Config.Clients = append(w.Config.Clients, slow+"/**")
	w.Broker.documents.http.Timeout = 300 * time.Millisecond
	done := make(chan string)
	for i := range maxFetches + 4 {
		go func() {
			_, err := w.Broker.client(t.Context(), fmt.Sprintf("%s/%d.json", slow, i))
			done <- fault.As(err).Message
		}()
	}
	busy := 0
	for range maxFetches + 4 {
		if said := <-done; strings.Contains(said, "too many applications") {
			busy++
		} else if !strings.Contains(said, "could not be fetched") {
			t.Error(said)
		}
	}
	if len(arrived) > maxFetches || busy < 1 {
		t.Errorf("%d were asked at once, %d were not", len(arrived), busy)
	}
}

// TestDocumentsAreFetchedFromPublicAddressesOnly has a broker that others reach.
func TestDocumentsAreFetchedFromPublicAddressesOnly(t *testing.T) {
	dialed := false
	site := newSite(t, func(http.ResponseWriter, *http.Request) { dialed = true })
	port := site[strings.LastIndexByte(site, ':'):]
	b := New(Parts{Config: &config.Broker{Clients: []string{
		"https://127.0.0.1" + port + "/**", "https://localhost" + port + "/**", "https://[::1]" + port + "/**", "https://[::ffff:7f00:1]" + port + "/**",
		"https://169.254.169.254/**", "https://10.0.0.1/**", "https://[fd00::1]/**", "https://0.0.0.0" + port + "/**", "http://127.0.0.1" + port + "/**",
	}}, Issuer: "https://tools.example.com"})
	for _, pattern := range b.Config.Clients {
		_, err := b.client(t.Context(), strings.TrimSuffix(pattern, "**")+"client.json")
		if err == nil || strings.Contains(err.Error(), "public") || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if dialed {
		t.Error("a private address was asked")
	}
}

func TestCodesAreExchangedOnceByWhoAskedForThem(t *testing.T) {
	w := newWorld(t, nil)
	for name, changes := range map[string][]string{
		"a wrong verifier":     {"code_verifier", "another-verifier-another-verifier-another-verif"},
		"no verifier":          {"code_verifier", ""},
		"the challenge itself": {"code_verifier", challengeOf(verifier)},
		"another client":       {"client_id", w.site.URL + "/other.json"},
		"no client":            {"client_id", ""},
		"another redirect URI": {"redirect_uri", "http://127.0.0.1:8/callback"},
	} {
		code := w.code()
		if got := w.exchange(code, changes...); got.Error != invalidGrant || got.Access != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if got := w.exchange(code); got.Error != invalidGrant {
			t.Errorf("after %s: %+v", name, got)
		}
	}
	code := w.code()
	got := w.exchange(code)
	if !w.admits(got.Access) {
		t.Fatal("not admitted")
	}
	if again := w.exchange(code); again.Error != invalidGrant {
		t.Errorf("twice: %+v", again)
	}
	if w.admits(got.Access) || w.refresh(got.Refresh).Error != invalidGrant {
		t.Error("a code was used twice, and its tokens still open")
	}
	for name, changes := range map[string][]string{
		"a secret":           {"client_secret", "x"},
		"an assertion":       {"client_assertion", "x"},
		"another grant type": {"grant_type", "password"},
		"machines":           {"grant_type", "client_credentials"},
		"another resource":   {"resource", "https://evil.example/"},
		"no code":            {"code", "tfc_"},
		"a token":            {"code", got.Access},
		"a refresh token":    {"code", got.Refresh},
	} {
		if got := w.exchange(w.code(), changes...); got.Error == "" || got.Access != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	r, _ := http.NewRequest("POST", w.server.URL+"/oauth/token?grant_type=authorization_code&code="+w.code(), nil)
	if resp := must(http.DefaultClient.Do(r)); resp.StatusCode != 400 {
		t.Errorf("a code in the address: %s", resp.Status)
	}
}

func TestRefreshTokensRotate(t *testing.T) {
	w := newWorld(t, nil)
	first := w.exchange(w.code())
	second := w.refresh(first.Refresh)
	w.pass(59 * time.Second)
	third := w.refresh(first.Refresh) // the answer was lost, or two of its processes race
	if second.Error != "" || third.Error != "" || third.Refresh == second.Refresh {
		t.Fatalf("%+v %+v", second, third)
	}
	w.pass(time.Hour)
	fourth, fifth := w.refresh(second.Refresh), w.refresh(third.Refresh) // both go on
	if fourth.Error != "" || fifth.Error != "" || !w.admits(fourth.Access) || !w.admits(fifth.Access) {
		t.Fatalf("%+v %+v", fourth, fifth)
	}
	w.pass(time.Minute)
	if got := w.refresh(third.Refresh); got.Error != invalidGrant {
		t.Errorf("reuse: %+v", got)
	}
	for _, token := range []tokens{fourth, fifth} {
		if w.admits(token.Access) || w.refresh(token.Refresh).Error != invalidGrant {
			t.Error("the family goes on")
		}
	}
	got := w.exchange(w.code())
	for range 3 {
		w.pass(time.Hour)
		next := w.refresh(got.Refresh)
		if _, err := w.Store.TrimGrants(t.Context()); err != nil {
			t.Fatal(err)
		}
		if next.Error != "" {
			t.Fatalf("%+v", next)
		}
		first, got = got, next
	}
	if again := w.refresh(first.Refresh[:len(first.Refresh)-3] + "xyz"); again.Error != invalidGrant || w.admits(got.Access) {
		t.Error("a token of the family that nobody knows any more was used, and it goes on")
	}
	if other := w.exchange(w.code()); w.refresh(other.Refresh, "client_id", "https://evil.example/").Error != invalidGrant || w.admits(other.Access) {
		t.Error("another client has used the token, and it goes on")
	}
}

func TestTokensThatAreNone(t *testing.T) {
	w := newWorld(t, nil)
	got := w.exchange(w.code())
	for _, text := range []string{
		"tfa_", "tfa_x", got.Refresh, strings.ToUpper(got.Access), got.Access + "x", got.Access[:len(got.Access)-1], "tfa_" + strings.Repeat("x", 10_000),
		"tfa_\x00", "tfa_中文", strings.Replace(got.Access, "tfa_", "tfr_", 1),
	} {
		if _, err := w.Admit(t.Context(), text, w.server.URL+"/mcp"); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
