package cloudbase

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/mcp"
)

// peer is a client made of funcs.
type peer struct {
	notify func(method, params string)
	ask    func(ctx context.Context, method, params string) (string, error)
}

func (p peer) Notify(_ context.Context, method string, params json.RawMessage) error {
	if p.notify != nil {
		p.notify(method, string(params))
	}
	return nil
}

func (p peer) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if p.ask == nil {
		return mcp.Deaf.Ask(ctx, method, params)
	}
	out, err := p.ask(ctx, method, string(params))
	return json.RawMessage(out), err
}

// callerOf tells callers apart by the id of their request, in these tests.
func callerOf(r *mcp.Request) string { return string(r.ID) }

// openPicks makes a server whose pages are served at a real port.
func openPicks(t *testing.T) (*Server, *fake.API) {
	t.Helper()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	p := picker.New(func() string { return srv.URL + "/pick" }, nil)
	mux.Handle("/pick/", http.StripPrefix("/pick", p))
	api := fake.New(nil)
	s, err := New(env(), p, &Options{Transport: api.Transport(), Caller: callerOf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		p.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return s, api
}

// quiet makes a server whose pages nobody visits.
func quiet(t *testing.T) *Server {
	t.Helper()
	p := picker.New(func() string { return "http://127.0.0.1:1/pick" }, nil)
	t.Cleanup(p.Close)
	s, err := New(env(), p, &Options{Transport: fake.New(nil).Transport(), Caller: callerOf})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit opens the page behind a link as a browser would, hears the list, and says something.
func visit(t *testing.T, url, say string) (rows []map[string]json.RawMessage) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	found := regexp.MustCompile(`data-session="(\w+)"`).FindSubmatch(body)
	if found == nil {
		t.Fatalf("no session in %s", body)
	}
	origin, _, _ := strings.Cut(url, "/pick")
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	write := func(text string) {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"type":"registerSession","sessionId":"` + string(found[1]) + `"}`)
	_, data, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Envs []map[string]json.RawMessage }
	decode(t, data, &list)
	write(say)
	conn.Read(t.Context()) // that it was heard
	return list.Envs
}

func TestThePickerShowsEveryEnvironmentOfABoundServer(t *testing.T) {
	s, api := open(t, "CLOUDBASE_ENV_ID=me")
	api.Play("DescribeEnvs", fake.Answer(`{"EnvList":[{"EnvId":"a"},{"EnvId":"me"},{"EnvId":"b"}]}`))
	if rows, err := s.rows(t.Context()); err != nil || string(rows) != `[{"EnvId":"a"},{"EnvId":"me"},{"EnvId":"b"}]` {
		t.Errorf("got %s, %v", rows, err)
	}
}

func TestAClientWithURLElicitationIsSentTheLinkAndWaits(t *testing.T) {
	s, api := openPicks(t)
	id := api.EnvIDs()[7]
	for say, want := range map[string]string{
		`{"type":"envId","data":"` + id + `"}`:     `{"envId":"` + id + `"}`,
		`{"type":"envId","cancelled":true}`:        `{"cancelled":true}`,
		`{"type":"envId","data":"","switch":true}`: `{"switch":true}`,
	} {
		var asked struct{ Mode, URL, Message, ElicitationID string }
		completed := ""
		client := peer{
			ask: func(_ context.Context, method, params string) (string, error) {
				if method != "elicitation/create" {
					t.Errorf("asked %s", method)
				}
				decode(t, []byte(params), &asked)
				rows := visit(t, asked.URL, say) // the person is quicker than the client
				if len(rows) != 40 || rows[0]["Databases"] == nil {
					t.Errorf("the page got %d rows: %v", len(rows), rows[0])
				}
				return `{"action":"accept"}`, nil
			},
			notify: func(method, params string) {
				if method == "notifications/elicitation/complete" {
					completed = params
				}
			},
		}
		raw, err := s.Serve(t.Context(), request("envPick", `{"message":"for the release"}`, client))
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(t, raw); string(got.Structured) != want || got.IsError {
			t.Errorf("got %s, want %s", got.Structured, want)
		}
		if asked.Mode != "url" || !strings.Contains(asked.Message, "for the release") ||
			completed != `{"elicitationId":"`+asked.ElicitationID+`"}` {
			t.Errorf("asked %+v, completed %s", asked, completed)
		}
		if resp, err := http.Get(asked.URL); err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("the page is still there: %v %v", resp, err)
		} else {
			resp.Body.Close()
		}
	}
}

func TestAPersonWhoDeclinesTheLinkHasCancelled(t *testing.T) {
	s := quiet(t)
	for _, action := range []string{"decline", "cancel"} {
		client := peer{ask: func(context.Context, string, string) (string, error) { return `{"action":"` + action + `"}`, nil }}
		raw, err := s.Serve(t.Context(), request("envPick", `{}`, client))
		if err != nil || string(parse(t, raw).Structured) != `{"cancelled":true}` {
			t.Errorf("%s: %s, %v", action, raw, err)
		}
	}
}

// short is the first answer to a client that cannot be sent links.
type short struct{ Status, URL, Wait, Expires string }

func TestOtherClientsGetTheLinkAtOnceAndComeBackForTheAnswer(t *testing.T) {
	s, api := openPicks(t)
	id := api.EnvIDs()[0]
	progress := ""
	client := peer{notify: func(method, params string) {
		if method == "notifications/progress" {
			progress = params
		}
	}}
	raw, err := s.Serve(t.Context(), request("envPick", `{}`, client))
	if err != nil {
		t.Fatal(err)
	}
	var first short
	decode(t, parse(t, raw).Structured, &first)
	if first.Status != "waiting" || first.Wait == "" || first.Expires == "" || strings.Contains(first.URL, first.Wait) {
		t.Errorf("got %+v", first)
	}
	if want := `{"progressToken":"p7","progress":0,"message":"Pick a cloud environment: ` + first.URL + `"}`; progress != want {
		t.Errorf("got %s, want %s", progress, want)
	}
	visit(t, first.URL, `{"type":"envId","data":"`+id+`"}`)
	other := request("envPick", `{"wait":"`+first.Wait+`"}`, client)
	other.ID = json.RawMessage("2") // another caller
	raw, err = s.Serve(t.Context(), other)
	if err != nil || errorOf(t, parse(t, raw)).Code != fault.NotFound {
		t.Errorf("another caller got %s, %v", raw, err)
	}
	if a := call(t, s, "envPick", `{"wait":"`+first.Wait+`"}`); string(a.Structured) != `{"envId":"`+id+`"}` {
		t.Errorf("got %s", a.Structured)
	}
	if f := errorOf(t, call(t, s, "envPick", `{"wait":"`+first.Wait+`"}`)); f.Code != fault.NotFound {
		t.Errorf("the answer was given twice: %+v", f)
	}
}

func TestACallThatComesBackWaitsForAWhileAndThenSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quiet(t)
		var first, second short
		decode(t, call(t, s, "envPick", `{"timeout":60}`).Structured, &first)
		began := time.Now()
		decode(t, call(t, s, "envPick", `{"wait":"`+first.Wait+`"}`).Structured, &second)
		if second != first || time.Since(began) != hold {
			t.Errorf("after %s: got %+v, want %+v", time.Since(began), second, first)
		}
		f := errorOf(t, call(t, s, "envPick", `{"wait":"`+first.Wait+`"}`))
		if f.Code != fault.UpstreamTimeout || time.Since(began) != time.Minute {
			t.Errorf("after %s: %+v", time.Since(began), f)
		}
	})
}

func TestEndingTheCallEndsThePage(t *testing.T) {
	s, _ := openPicks(t)
	ended := func(name string, serve func(context.Context, func(url string)) error) {
		ctx, cancel := contextWithCancel(t)
		url := ""
		err := serve(ctx, func(link string) { url = link; cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: the page is still there", name)
		}
	}
	ended("while the person looks", func(ctx context.Context, leave func(string)) error {
		client := peer{ask: func(_ context.Context, _, params string) (string, error) {
			var asked struct{ URL string }
			decode(t, []byte(params), &asked)
			leave(asked.URL)
			return `{"action":"accept"}`, nil
		}}
		_, err := s.Serve(ctx, request("envPick", `{}`, client))
		return err
	})
	ended("when it came back", func(ctx context.Context, leave func(string)) error {
		var first short
		decode(t, call(t, s, "envPick", `{}`).Structured, &first)
		client := peer{notify: func(string, string) { leave(first.URL) }}
		_, err := s.Serve(ctx, request("envPick", `{"wait":"`+first.Wait+`"}`, client))
		return err
	})
}

func TestThePageSaysWhatToSetWhenTheKeyIsMissing(t *testing.T) {
	s, err := New(env("TENCENTCLOUD_SECRETKEY="), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.rows(t.Context())
	if !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "TENCENTCLOUD_SECRETKEY") {
		t.Errorf("got %v", err)
	}
}

func TestWrongArgumentsOfAPick(t *testing.T) {
	s := quiet(t)
	for args, want := range map[string]string{
		`{"timeout":0}`: "timeout: expected an integer from 1 to 3600", `{"timeout":3601}`: "timeout: expected", `{"message":7}`: "message: expected a string",
		`{"message":"` + strings.Repeat("长", 501) +
			`"}`: "message: expected a string of 1 to 500", `{"wait":"x","timeout":5}`: "wait: expected no other argument", `{"x":1}`: "x: there is no such argument",
	} {
		if f := errorOf(t, call(t, s, "envPick", args)); f.Code != fault.BadArguments || !strings.Contains(f.Message, want) {
			t.Errorf("%s: got %+v", args, f)
		}
	}
	if f := errorOf(t, call(t, s, "envPick", `{"wait":"x"}`)); f.Code != fault.NotFound {
		t.Errorf("got %+v", f)
	}
}

func TestWithoutAnAddressThereIsNoPick(t *testing.T) {
	p := picker.New(func() string { return "" }, nil)
	defer p.Close()
	s, err := New(env(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := errorOf(t, call(t, s, "envPick", `{}`)); f.Code != fault.BadConfig {
		t.Errorf("got %+v", f)
	}
}
