package recall

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const remoteWorld = `
listen: 0.0.0.0:30779
recall:
  trust: [192.0.2.0/24]
  operatorIntegration: {url: "http://agent-operator-integration:9000"}
`

const remoteCall = "POST /api/agent-retrieval/in/v1/mcp/proxy/m1/tools/t/call\n\n{}"

func TestWhatAServiceDidWrongIsSaidAsItWas(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		status       int
		want         string
	}{
		{"text of another encoding is not passed on as if it were UTF-8", "200\n{\"content\":\"\xd6\xd0\xce\xc4\"}", 502,
			"its answer is not in UTF-8"},
		{"a byte order mark does no harm", "200\n\ufeff{\"content\":[]}", 200, `{"content":[]}`},
		{"a service that breaks off was reached", "close", 502, "the connection broke before its answer was complete"},
	} {
		w := newWorld(t, remoteWorld, nil)
		w.answers["POST /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tool/call"] = c.answer
		if res := w.do(remoteCall); res.Code != c.status || !strings.Contains(res.Body.String(), c.want) {
			t.Errorf("%s: %d %s", c.name, res.Code, res.Body)
		}
	}
}

func TestWhileCallsCannotBeRecordedNoneIsSent(t *testing.T) {
	w := newWorld(t, remoteWorld, nil)
	w.answers["POST /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tool/call"] = "200\n{\"content\":[]}"
	w.unkept = errors.New("database or disk is full (13)") // found out by a call that has run
	if res := w.do(remoteCall); res.Code != 200 || !strings.Contains(res.Body.String(), "The tool has run, its result could not be kept") {
		t.Errorf("%d %s", res.Code, res.Body)
	}
	w.takeSent()
	w.refuses = w.unkept
	if res := w.do(remoteCall); res.Code != 503 || strings.Contains(res.Body.String(), "(13)") || len(w.takeSent()) > 0 {
		t.Errorf("%d %s", res.Code, res.Body)
	}
}

func TestAServiceThatCannotBeDialedIsNotReached(t *testing.T) {
	w := newWorld(t, remoteWorld, nil)
	w.Client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	res := w.do(remoteCall)
	if res.Code != 502 || !strings.Contains(res.Body.String(), `"reason":"it cannot be reached"`) {
		t.Errorf("%d %s", res.Code, res.Body)
	}
	want := "502 Public.BadGateway (reason: it cannot be reached; service: agent-operator-integration): Post "
	if got := w.records[0]; !strings.HasPrefix(got.Message, want) || got.Code != string(fault.UpstreamDown) {
		t.Errorf("the record says %s, %q", got.Code, got.Message)
	}
}

func TestEveryProblemOfTheArgumentsIsSaidInTheLanguageOfTheRequest(t *testing.T) {
	own := `[{"name":"put","inputSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},` +
		`"k":{"enum":["a","b"]}},"required":["n"],"additionalProperties":false}}]`
	w := newWorld(t, "listen: 0.0.0.0:30779\nmcpServers: {shop: {command: shop}}\nrecall: {trust: [192.0.2.0/24]}",
		map[string]string{"shop": own})
	res := w.do("POST /api/agent-retrieval/in/v1/mcp/proxy/shop/tools/put/call\nX-Language: zh-CN\n\n" + `{"n":10,"k":"x","other":1}`)
	for _, want := range []string{`"expected":"至少 1 且至多 9"`, `以下之一：`, `工具已有的参数`, `可用：n, k`} {
		if !strings.Contains(res.Body.String(), want) {
			t.Errorf("%s is missing in %s", want, res.Body)
		}
	}
}

func TestANameThatIsNoUTF8IsSentToNobody(t *testing.T) {
	w := newWorld(t, remoteWorld, nil)
	for _, path := range []string{"m1/tools/%ff", "%ff/tools/t"} {
		if res := w.do("POST " + private + "/mcp/proxy/" + path + "/call\n\n{}"); res.Code != 404 || len(w.takeSent()) > 0 {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
	}
}

func TestAToolThatIsGoneIsNotTakenForAServerThatIsGone(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[callPath] = "404\n{}"
	if res := w.do(askCall); !strings.Contains(res.Body.String(), instanceNotFound) {
		t.Errorf("nothing is known of the server: %d %s", res.Code, res.Body)
	}
	w.do(askAction) // reads the list of the server
	if res := w.do(askCall); res.Code != 404 || !strings.Contains(res.Body.String(), toolNotFound) {
		t.Errorf("the server is known: %d %s", res.Code, res.Body)
	}
}

func TestAServiceIsFollowedNowhereElse(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer service.Close()
	s := &remote{name: "s", base: service.URL, timeout: time.Minute, client: newClient(), limit: 1 << 10}
	defer s.client.CloseIdleConnections()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, err := s.ask(t.Context(), question{method: method, path: "/x", account: Account{ID: "a1"}}, ""); err == nil || reached != 0 {
			t.Errorf("%s: %v, and %d requests came elsewhere", method, err, reached)
		}
	}
}
