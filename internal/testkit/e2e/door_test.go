package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// localSecret is what the command prints.
func localSecret(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(program(t), "secret").Output()
	if err != nil {
		t.Fatalf("toolfit secret: %v\n%s", err, errorOutput(err))
	}
	return strings.TrimSpace(string(out))
}

// send sends a request with pairs of headers and gives the status and the answer.
func send(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// keyless is the real program without keys, with a server.
func keyless(t *testing.T) *running {
	t.Helper()
	return run(t, write(t, "mcpServers: {shop: {builtin: demo-shop}}\n"))
}

func TestWithoutKeysTheSecretAdministers(t *testing.T) {
	g := keyless(t)
	secret := localSecret(t)
	added := `{"id":"more","config":{"builtin":"demo-cloud"}}`
	for _, c := range []struct {
		rule, method, path, body string
		open                     bool // without the secret
	}{
		{"health", "GET", "/healthz", "", true},
		{"metrics", "GET", "/metrics", "", true},
		{"listing", "GET", "/api/v1/tools", "", true},
		{"searching", "GET", "/api/v1/search?q=orders", "", true},
		{"the prompt", "GET", "/api/v1/prompt", "", true},
		{"describing", "GET", "/api/v1/tools/shop__list_orders", "", true},
		{"calling", "POST", "/api/v1/tools/shop__list_orders/call", "{}", true},
		{"one's own records", "GET", "/api/v1/calls", "", true},
		{"agents that exist", "GET", "/v1/models", "", true},
		{"adding a server", "POST", "/api/v1/servers", added, false},
		{"removing one", "DELETE", "/api/v1/servers/more", "", false},
		{"refreshing one", "POST", "/api/v1/servers/shop/refresh", "", false},
		{"approving", "POST", "/api/v1/servers/shop/approve", "{}", false},
		{"rules", "GET", "/api/v1/rules", "", false},
		{"agents", "POST", "/api/v1/agents", `{"id":"a"}`, false},
		{"test runs", "POST", "/api/v1/runs", `{"steps":"open http://127.0.0.1:1/"}`, false},
		{"the console", "GET", "/", "", false},
		{"keys", "GET", "/api/v1/keys", "", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			status, answer := send(t, c.method, g.url+c.path, c.body)
			if refused := status == 401 || status == 403; refused == c.open {
				t.Errorf("without the secret: %d %.200s", status, answer)
			}
			if status, answer := send(t, c.method, g.url+c.path, c.body, "Authorization", "Bearer "+secret); status == 401 || status == 403 {
				t.Errorf("with the secret: %d %.200s", status, answer)
			}
		})
	}
}

func TestTheLinkSignsInOnce(t *testing.T) {
	g := keyless(t)
	link := regexp.MustCompile(`http://\S+/sign-in\?once=\S+`).FindString(g.said.String())
	if link == "" {
		t.Fatalf("no link is printed: %s", g.said)
	}
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(link))
	b.Until(`document.querySelector("nav") && document.title.includes("Overview")`)
	b.CheckConsole()
	again := testparts.NewBrowser(t, "en-US")
	again.Do(chromedp.Navigate(link))
	again.Until(`document.querySelector("[name=key]")`)
	again.Do(chromedp.SendKeys("[name=key]", localSecret(t)), chromedp.Click(".sign-in button"))
	again.Until(`document.querySelector("nav") && document.title.includes("Overview")`)
}

// attackPage is a page of somebody else on another port, which tries all that a page can.
const attackPage = `<!doctype html><title>evil</title><form id=f method=post target=out action="%[1]s/servers"><input name=json value='{"mcpServers":{"evil":{"builtin":"demo-cloud"}}}'></form>
<iframe name=out></iframe><img src="%[1]s/api/v1/tools"><script src="%[1]s/api/v1/servers"></script>
<script>
const add = JSON.stringify({id: "evil", config: {builtin: "demo-cloud"}}), done = [];
async function attempt(name, f) { try { done.push(name + ": " + await f()) } catch (e) { done.push(name + ": " + e) } }
const post = (path, type, body, more) => fetch("%[1]s" + path, {method: "POST", body, headers: type ? {"Content-Type": type} : {}, ...more}).then(r => r.status);
(async () => {
	await attempt("plain", () => post("/api/v1/servers", "text/plain", add, {mode: "no-cors"}));
	await attempt("json", () => post("/api/v1/servers", "application/json", add));
	await attempt("form", () => post("/api/v1/servers", "application/x-www-form-urlencoded", add, {mode: "no-cors", credentials: "include"}));
	await attempt("blob", () => fetch("%[1]s/api/v1/servers", {method: "POST", mode: "no-cors", credentials: "include", body: new Blob([add])}).then(r => r.status));
	await attempt("read", () => fetch("%[1]s/api/v1/tools").then(r => r.text()));
	await attempt("call", () => post("/api/v1/tools/shop__list_orders/call", "text/plain", "{}", {mode: "no-cors"}));
	await attempt("mcp", () => post("/mcp", "application/json", "{}"));
	await attempt("beacon", () => navigator.sendBeacon("%[1]s/api/v1/servers", new Blob([add], {type: "text/plain"})));
	await attempt("socket", () => new Promise(end => { const s = new WebSocket("%[2]s/api/v1/events"); s.onopen = () => end("open"); s.onerror = () => end("refused"); }));
	await attempt("sign in", () => post("/sign-in", "application/x-www-form-urlencoded", "key=x", {mode: "no-cors"}));
	document.getElementById("f").submit();
	setTimeout(() => document.title = "over " + done.join("; "), 500);
})();
</script>`

func TestAPageOnAnotherPortCannotUseTheGateway(t *testing.T) {
	g := keyless(t)
	link := regexp.MustCompile(`http://\S+/sign-in\?once=\S+`).FindString(g.said.String())
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, attackPage, g.url, strings.Replace(g.url, "http", "ws", 1))
	}))
	t.Cleanup(page.Close)
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(link)) // the person is signed in: the browser has the cookie
	b.Until(`document.querySelector("nav")`)
	b.Do(chromedp.Navigate(page.URL))
	b.Until(`document.title.startsWith("over")`)
	done := b.Read("document.title")
	if strings.Contains(done, "socket: open") || strings.Contains(done, "shop__") || strings.Contains(done, ": 20") {
		t.Errorf("the page got through: %s", done)
	}
	bearer := "Bearer " + localSecret(t)
	if _, servers := send(t, "GET", g.url+"/api/v1/servers", "", "Authorization", bearer); strings.Contains(servers, "evil") ||
		!strings.Contains(servers, "shop") {
		t.Errorf("the page added a server: %s", servers)
	}
	if _, calls := send(t, "GET", g.url+"/api/v1/calls", "", "Authorization", bearer); strings.Contains(calls, "shop__list_orders") {
		t.Errorf("the page called a tool: %s", calls)
	}
}

func TestAListedOriginUsesTheGatewayFromItsPage(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>client</title>")
	}))
	t.Cleanup(page.Close)
	g := run(t, write(t, "mcpServers: {shop: {builtin: demo-shop}}\norigins: ["+page.URL+"]\n"))
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(page.URL))
	b.Read(fmt.Sprintf(`(fetch("%s/mcp", {method: "POST", headers: {"Content-Type": "application/json", Accept: "application/json, text/event-stream"},
		body: JSON.stringify({jsonrpc: "2.0", id: 1, method: "initialize", params: %s})}).then(r => document.title = r.status + " " + (r.headers.get("Mcp-Session-Id") ? "session" : "none")), "")`, g.url, hello))
	b.Until(`document.title !== "client"`)
	if title := b.Read("document.title"); title != "200 session" {
		t.Errorf("got %q", title)
	}
	b.CheckConsole()
}

func TestABareProxyLetsNobodyIn(t *testing.T) {
	g := keyless(t)
	front := nginx(t, "", "proxy_pass "+g.url+";") // what the shortest guides on the net show
	for _, path := range []string{"/api/v1/tools", "/mcp", "/metrics", "/api/v1/servers", "/"} {
		if status, answer := send(t, "GET", "http://"+front+path, ""); status != 401 {
			t.Errorf("%s behind nginx: %d %.200s", path, status, answer)
		}
		if status, answer := send(t, "GET", "http://"+front+path, "", "Authorization", "Bearer "+localSecret(t)); status != 401 {
			t.Errorf("%s behind nginx with the secret: %d %.200s", path, status, answer)
		}
	}
	if status, _ := send(t, "GET", "http://"+front+"/healthz", ""); status != 200 {
		t.Errorf("nginx does not pass requests on: %d", status)
	}
}

func TestAnotherUserOfTheMachineIsNotLocal(t *testing.T) {
	g := keyless(t)
	ask := func(path string, headers ...string) int {
		t.Helper()
		in, _ := json.Marshal(append([]string{g.url + path}, headers...)) // strings only
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = []string{childEnv + "=ask", "GORACE=atexit_sleep_ms=0"}
		cmd.Dir = "/"
		cmd.Stdin = bytes.NewReader(in)
		testparts.AsNobody(t, cmd)
		out, err := cmd.Output()
		var status int
		if _, scanErr := fmt.Sscan(string(out), &status); err != nil || scanErr != nil {
			t.Fatalf("ask as another user: %v %s %q", err, errorOutput(err), out)
		}
		return status
	}
	if status := ask("/healthz"); status != 200 {
		t.Errorf("health: %d", status)
	}
	for _, path := range []string{"/api/v1/tools", "/mcp", "/metrics", "/api/v1/calls", "/v1/models", "/"} {
		if status := ask(path); status != 401 {
			t.Errorf("%s for another user: %d", path, status)
		}
	}
	// A cookie goes to every port of this machine, so another user may have got hold of it.
	link := regexp.MustCompile(`http://\S+/sign-in\?once=\S+`).FindString(g.said.String())
	resp, err := http.DefaultTransport.RoundTrip(must(http.NewRequest("GET", link, nil)))
	if err != nil || len(resp.Cookies()) == 0 {
		t.Fatalf("the link gives no cookie: %v %v", resp, err)
	}
	resp.Body.Close()
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	if status, _ := send(t, "GET", g.url+"/", "", "Cookie", cookie); status != 200 {
		t.Errorf("our own cookie: %d", status)
	}
	if status := ask("/", "Cookie", cookie); status != 401 {
		t.Errorf("our cookie in another user's hands: %d", status)
	}
}

// must is the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// askAsChild sends the request that standard input names, and prints the status.
func askAsChild() {
	var in []string
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		os.Exit(1)
	}
	req := must(http.NewRequest("GET", in[0], nil))
	for i := 1; i < len(in); i += 2 {
		req.Header.Set(in[i], in[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.StatusCode)
}

func TestTheFirstKeyClosesTheDoorForAll(t *testing.T) {
	path := write(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	g := run(t, path)
	if status, _ := send(t, "GET", g.url+"/api/v1/tools", ""); status != 200 {
		t.Fatalf("before: %d", status)
	}
	newKey(t, path, "first", "*", "admin") // by another process
	time.Sleep(time.Second)                // what is promised
	for _, auth := range []string{"", "Bearer " + localSecret(t)} {
		if status, _ := send(t, "GET", g.url+"/api/v1/tools", "", "Authorization", auth); status != 401 {
			t.Errorf("after the first key, with %.8q: %d", auth, status)
		}
	}
}

// TestUnfinishedRequestsLeaveRoomForOthers lets a stranger hold more connections open than
// the program may have files.
func TestUnfinishedRequestsLeaveRoomForOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no limit on open files")
	}
	path := write(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	g := runCommand(t, exec.Command("sh", "-c", `ulimit -n 256 && exec "$0" serve --config "$1" --listen 127.0.0.1:0`, program(t), path))
	for range 400 {
		c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	}
	if status, answer := send(t, "GET", g.url+"/healthz", ""); status != 200 {
		t.Errorf("health: %d %s", status, answer)
	}
	time.Sleep(time.Second) // from then on an unfinished request makes room
	if status, answer := send(t, "POST", g.url+"/api/v1/tools/shop__list_orders/call", "{}"); status != 200 {
		t.Errorf("a call: %d %s", status, answer)
	}
}
