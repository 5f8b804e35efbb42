package recall

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	bothServices = `
listen: 0.0.0.0:30779
recall:
  trust: [192.0.2.0/24]
  ontologyQuery: {url: "http://ontology-query:13018"}
  operatorIntegration: {url: "http://agent-operator-integration:9000"}
`
	actionPath = "POST /api/ontology-query/in/v1/knowledge-networks/kn1/action-types/at1"
	listPath   = "GET /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tools"
	callPath   = "POST /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tool/call"
	askAction  = "POST " + private + "/kn/get_action_info\n\n" + `{"kn_id":"kn1","at_id":"at1"}`
	askCall    = "POST " + private + "/mcp/proxy/m1/tools/scale/call\n\n" + `{"n":3}`
)

// scaled is a world with one action, bound to a tool of an MCP server.
func scaled(t testing.TB, text string) *world {
	w := newWorld(t, text, nil)
	w.answers[actionPath] = "200\n" + `{"action_source":{"type":"mcp","mcp_id":"m1","tool_name":"scale"},` +
		`"actions":[{"parameters":{"ns":"default"}}]}`
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},` +
		`"ns":{"type":"string"}},"required":["n"]}}]}`
	w.answers[callPath] = "200\n" + `{"content":[],"isError":false}`
	return w
}

func TestAServiceNeedsItsSection(t *testing.T) {
	if _, err := New(Parts{Config: &config.Config{}}); err == nil {
		t.Error("made without a section recall")
	}
}

func TestEveryCallThroughTheOtherServiceIsRecorded(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[callPath] = "200\n" + `{"content":[{"type":"text","text":"scaled"}],"structuredContent":{"n":3},"isError":false}`
	w.do(askCall)
	w.answers[callPath] = "200\n" + `{"is_error":true,"content":[{"type":"text","text":"no pods"}]}`
	w.do(askCall)
	w.answers[callPath] = "500\n{}"
	w.do(askCall)
	w.answers[callPath] = "404\n{}"
	w.do(askCall)
	var got []string
	for _, r := range w.records {
		got = append(got, fmt.Sprintf("%s %s %s %s by %s", r.Outcome, r.Code, r.Level, r.Tool, r.Principal))
		if r.Outcome == "tool_error" && r.Message != "no pods" {
			t.Errorf("the record does not say why: %q", r.Message)
		}
		if worked := r.Code == ""; (r.TokensIn > 0) != worked || (r.TokensFull > 0) != worked || r.TokensSent != r.TokensFull {
			t.Errorf("%s %s: tokens %d, %d, %d", r.Outcome, r.Code, r.TokensIn, r.TokensFull, r.TokensSent)
		}
	}
	want := []string{
		"ok  info m1__scale by anonymous:anonymous", "tool_error  error m1__scale by anonymous:anonymous",
		"error upstream_error error m1__scale by anonymous:anonymous", "error unknown_tool error m1__scale by anonymous:anonymous",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAListIsBelievedForAWhileAndNoLonger(t *testing.T) {
	w := scaled(t, bothServices)
	for _, step := range []struct {
		wait  time.Duration
		asked int
	}{{0, 2}, {listAge - 1, 1}, {1, 2}} {
		w.clock = w.clock.Add(step.wait)
		w.do(askAction)
		if sent := w.takeSent(); len(sent) != step.asked {
			t.Errorf("after %s: sent %q", step.wait, sent)
		}
	}
}

func TestListsAreBounded(t *testing.T) {
	w := scaled(t, bothServices)
	for i := range maxLists + 10 {
		w.remote.cache(listKey{server: fmt.Sprint(i)}, &toolList{read: w.clock})
	}
	if n := len(w.remote.lists); n > maxLists {
		t.Errorf("%d lists are kept", n)
	}
	for i := range 50 {
		w.remote.cache(listKey{server: fmt.Sprint(i % 40)}, &toolList{read: w.clock, bytes: maxListBytes / 20})
		sum := 0
		for _, l := range w.remote.lists {
			sum += l.bytes
		}
		if sum > maxListBytes || sum != w.remote.bytes {
			t.Fatalf("lists of %d bytes are kept, and %d are counted", sum, w.remote.bytes)
		}
	}
}

func TestFixedParametersTooLargeForAnAddressAreTheCallersToSend(t *testing.T) {
	w := scaled(t, bothServices+"  fixed: bind\n")
	var random strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&random, "%x", i*i*2654435761)
	}
	w.answers[actionPath] = "200\n" + `{"action_source":{"type":"mcp","mcp_id":"m1","tool_name":"scale"},"actions":[{"parameters":{"ns":"` + random.String() + `"}}]}`
	res := w.do(askAction)
	if body := res.Body.String(); res.Code != 200 || !strings.Contains(body, `/call","original_schema"`) ||
		!strings.Contains(body, `"parameters":{"type":"object","properties":{"n":{"type":"integer"},"ns"`) {
		t.Errorf("%d %.600s", res.Code, body)
	}
	if !strings.Contains(w.log.String(), "too large to be bound") {
		t.Errorf("log %s", w.log)
	}
}

func TestAMissingDefinitionIsLoggedByName(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":{"type":"object",` +
		`"properties":{"n":{"$ref":"#/$defs/Lost"}}}}]}`
	if res := w.do(askAction); res.Code != 200 {
		t.Fatalf("%d %s", res.Code, res.Body)
	}
	if !strings.Contains(w.log.String(), `msg="MCP schema definition not found: Lost"`) {
		t.Errorf("log %s", w.log)
	}
}

func TestASchemaThatCannotBeReadIsLoggedWithTheReason(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":{"type":"array"}}]}`
	if res := w.do(askAction); res.Code != http.StatusInternalServerError {
		t.Fatalf("%d %s", res.Code, res.Body)
	}
	if log := w.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "the arguments are no object") ||
		!strings.Contains(log, convertFailed) {
		t.Errorf("log %s", log)
	}
}

func TestRequestsAndConversionsAreCounted(t *testing.T) {
	w := scaled(t, bothServices)
	w.do(askAction)
	w.do(askCall)
	w.answers[callPath] = "close"
	w.do(askCall)
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":7}]}`
	w.clock = w.clock.Add(listAge)
	w.do(askAction)
	want := `
# HELP toolfit_recall_conversions_total Schemas converted for function calling, by outcome: ok, degraded or failed.
# TYPE toolfit_recall_conversions_total counter
toolfit_recall_conversions_total{outcome="degraded"} 0
toolfit_recall_conversions_total{outcome="failed"} 1
toolfit_recall_conversions_total{outcome="ok"} 1
# HELP toolfit_recall_requests_total Requests to action recall, by route and status code.
# TYPE toolfit_recall_requests_total counter
toolfit_recall_requests_total{code="200",route="get_action_info"} 1
toolfit_recall_requests_total{code="200",route="proxy"} 1
toolfit_recall_requests_total{code="500",route="get_action_info"} 1
toolfit_recall_requests_total{code="502",route="proxy"} 1
`
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), "toolfit_recall_conversions_total",
		"toolfit_recall_requests_total"); err != nil {
		t.Error(err)
	}
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	three := false
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				three = three || b.GetUpperBound() == 3
			}
		}
	}
	if !three {
		t.Error("no bucket ends at 3 s, where the alarm looks")
	}
}

func TestOneConnectionServesOneCallAfterTheOther(t *testing.T) {
	w := scaled(t, bothServices)
	for range 20 { // three requests each
		w.do(askAction)
		w.do(askCall)
		w.clock = w.clock.Add(listAge) // else the list would not be asked for again
	}
	// One for each service. Those that the client could not tell to be free in time, on a
	// busy machine, are closed.
	if w.opened > 20 {
		t.Errorf("%d connections", w.opened)
	}
}

func TestTheCallerLeavingIsNoFaultOfTheService(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[callPath] = "hang"
	ctx, cancel := contextThatEndsWhenSent(t, w)
	defer cancel()
	_, err := w.remote.call(ctx, "m1", "scale", json.RawMessage("{}"), Account{})
	if p := asProblem(err); p.status != fault.Gone {
		t.Errorf("got %v", err)
	}
}

func TestAServiceIsReachedWhateverItAnswers(t *testing.T) {
	w := scaled(t, bothServices)
	if err := Reach(t.Context(), config.RecallUpstream{URL: w.upstream.URL, Timeout: time.Minute}); err != nil {
		t.Error(err)
	}
	w.upstream.Close()
	if err := Reach(t.Context(), config.RecallUpstream{URL: w.upstream.URL, Timeout: time.Minute}); err == nil {
		t.Error("a service that is gone was reached")
	}
}

func TestAServiceWithAnUnknownCertificateIsNotAsked(t *testing.T) {
	asked := false
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it says that the client hung up
	srv.StartTLS()
	defer srv.Close()
	client := newClient()
	defer client.CloseIdleConnections()
	o := &ontology{remote{"ontology-query", srv.URL, time.Minute, client, 1 << 20}}
	if _, err := o.Action(t.Context(), Query{Network: "k", ActionType: "a"}); err == nil ||
		asProblem(err).status != http.StatusBadGateway || asked {
		t.Errorf("asked %v, %v", asked, err)
	}
}

func TestABodyOverTheLimitIsRefused(t *testing.T) {
	w := scaled(t, "limits: {body: 1KB}\n"+bothServices)
	res := w.do("POST " + private + "/mcp/proxy/m1/tools/scale/call\n\n" + `{"n":"` + strings.Repeat("x", 2000) + `"}`)
	if res.Code != http.StatusRequestEntityTooLarge || len(w.takeSent()) != 0 {
		t.Errorf("%d %s", res.Code, res.Body)
	}
}

func TestAnAnswerOverTheLimitIsBroken(t *testing.T) {
	w := scaled(t, "limits: {message: 1KB}\n"+bothServices)
	w.answers[callPath] = "200\n" + `{"content":"` + strings.Repeat("x", 2000) + `"}`
	if res := w.do(askCall); res.Code != http.StatusBadGateway || !strings.Contains(res.Body.String(), "larger than") {
		t.Errorf("%d %.300s", res.Code, res.Body)
	}
}

func TestEncodedNamesSurviveTheWayThroughAServer(t *testing.T) {
	w := scaled(t, strings.Replace(bothServices, "192.0.2.0/24", "127.0.0.0/8", 1))
	mux := http.NewServeMux()
	mux.Handle("/api/agent-retrieval/", w)
	srv := httptest.NewServer(http.StripPrefix("/base", mux))
	defer srv.Close()
	for path, want := range map[string]string{
		"a%2Fb": "a/b", "a%2F%2Fb": "a//b", "%2F": "/", "%E5%88%9B%20x%3F": "创 x?", "..%2Fx": "../x", "a%25b": "a%b", "call": "call",
	} {
		res, err := http.Post(srv.URL+"/base"+private+"/mcp/proxy/m1/tools/"+path+"/call", "", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		name, _ := json.Marshal(want)
		if sent := w.takeSent(); res.StatusCode != 200 || len(sent) != 1 ||
			!strings.HasSuffix(sent[0], `{"tool_name":`+string(name)+`,"parameters":{}}`) {
			t.Errorf("%s: %d, sent %q", path, res.StatusCode, sent)
		}
	}
}

func TestWhatIsWrongWithAnArgumentIsAlwaysSaidInThreeWords(t *testing.T) {
	w := scaled(t, bothServices)
	w.answers[listPath] = "200\n" + `{"tools":[{"name":"scale","inputSchema":{"type":"object","properties":{"n":{"type":"integer",` +
		`"maximum":5}},"required":["n"],"additionalProperties":false}}]}`
	w.do(askAction)
	for _, args := range []string{`{}`, `{"n":"x"}`, `{"n":9}`, `{"n":1,"m":2}`, `{"n":null}`} {
		res := w.do("POST " + private + "/mcp/proxy/m1/tools/scale/call\n\n" + args)
		var body struct {
			Details struct{ Field, Expected, Got string }
		}
		if err := json.Unmarshal(res.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if d := body.Details; res.Code != http.StatusBadRequest || d.Field == "" || d.Expected == "" || d.Got == "" {
			t.Errorf("%s: %d %s", args, res.Code, res.Body)
		}
	}
}
