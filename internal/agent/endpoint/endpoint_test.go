package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an endpoint and makes a model of it.
func serve(t testing.TB, h http.HandlerFunc) (*Client, *config.Model) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c := New()
	t.Cleanup(c.Close)
	return c, &config.Model{Name: "m", URL: srv.URL + "/v1", Timeout: 5 * time.Minute}
}

// events writes a stream of events.
func events(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range list {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

func delta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func quiet(conversation.Piece) error { return nil }

func TestRepliesArePutTogether(t *testing.T) {
	call := func(index int, id, name, args string) string {
		return delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":%q}}]}`, index, id, name, args))
	}
	cases := []struct {
		name   string
		events []string
		want   string
	}{
		{"text in pieces", []string{delta(`{"role":"assistant","content":""}`), delta(`{"content":"你"}`), delta(`{"content":"好"}`), stop, "[DONE]"}, `"你好" [] stop`},
		{"a call in pieces", []string{call(0, "a", "read", ""), call(0, "", "", `{"x"`), call(0, "", "", `:1}`), stop}, `"" [{a read {"x":1}}] stop`},
		{"calls side by side", []string{call(0, "a", "r", "{"), call(1, "b", "s", "{"), call(0, "", "", "}"), call(1, "", "", "}"), stop}, `"" [{a r {}} {b s {}}] stop`},
		{"all calls with one index", []string{call(0, "a", "r", "{}"), call(0, "b", "s", "{}"), stop}, `"" [{a r {}} {b s {}}] stop`},
		{"the name again in each piece", []string{call(0, "a", "read", "{"), call(0, "a", "read", "}"), stop}, `"" [{a read {}}] stop`},
		{"other choices are passed over", []string{`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`, stop}, `"y" [] stop`},
		{"no reason at the end", []string{delta(`{"content":"x"}`)}, `"x" [] `},
		{"a reply without anything", []string{stop, "[DONE]"}, `"" [] stop`},
		{"usage comes last", []string{delta(`{"content":"x"}`), stop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`, "[DONE]"}, `"x" [] stop`},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, m := serve(t, events(tt.events...))
			r, err := c.Ask(t.Context(), m, []byte(`{}`), quiet)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%q %v %s", r.Text, r.Calls, r.Finish); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestThoughtsAreApartFromTheAnswer(t *testing.T) {
	c, m := serve(t, events(delta(`{"reasoning_content":"hm"}`), delta(`{"content":"yes"}`), stop))
	var heard []conversation.Piece
	r, err := c.Ask(t.Context(), m, []byte(`{}`), func(p conversation.Piece) error { heard = append(heard, p); return nil })
	if err != nil || r.Text != "yes" || r.Thoughts != "hm" || len(heard) != 2 {
		t.Errorf("%+v, %v, %v", r, heard, err)
	}
}

func TestWhatIsWrongWithAnEndpointIsSaid(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	cases := []struct {
		name string
		h    http.HandlerFunc
		code fault.Code
		want string
	}{
		{"a wrong key", answer(401, `{"error":{"message":"Incorrect API key"}}`), fault.UpstreamError, "model m does not accept our key: Incorrect API key"},
		{"a wrong name", answer(404, `{"error":{"message":"no such model"}}`), fault.UpstreamError, "model m was not found: no such model"},
		{"too often", answer(429, `{"error":{"message":"slow down"}}`), fault.RateLimited, "rate limited: slow down"},
		{"a proxy's page", answer(502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"), fault.UpstreamError, "HTTP 502: 502 Bad Gateway"},
		{"a model without function calling", answer(400, `{"error":{"message":"m does not support tools"}}`), fault.UpstreamError, "m does not support tools (if the model has no function calling, set tools: text of models.m)"},
		{"a refusal", answer(400, `{"error":{"message":"context is 8192 tokens"}}`), fault.UpstreamError, "HTTP 400: context is 8192 tokens"},
		{"an error page", answer(500, "<html>\n<b>oops</b>"), fault.UpstreamError, "HTTP 500: oops"},
		{"an error of another form", answer(422, `{"detail":"bad field"}`), fault.UpstreamError, "HTTP 422: bad field"},
		{"a page in place of a stream", answer(200, "<html>hello</html>"), fault.UpstreamProtocol, "not a chat completion"},
		{"an error with a good status", answer(200, `{"error":{"message":"model is loading","code":503}}`), fault.UpstreamError, "model m broke off: model is loading"},
		{"an error that is a text", answer(400, `{"error":"model 'x' not found"}`), fault.UpstreamError, "HTTP 400: model 'x' not found"},
		{"an error of another API with a good status", answer(200, `{"code":500,"msg":"内部错误"}`), fault.UpstreamProtocol, "not a chat completion: 内部错误"},
		{"an error event", rawBody("event: error\ndata: {\"message\":\"quota\"}\n\n"), fault.UpstreamError, "model m broke off: quota"},
		{"an end by an error", events(delta(`{"content":"x"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`), fault.UpstreamError, "broke off without a reason"},
		{"JSON that is cut", answer(200, `{"choices":[{"mess`), fault.UpstreamProtocol, "cannot be read to its end"},
		{"when to ask again", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "120")
			answer(429, `{}`)(w, r)
		}, fault.RateLimited, "rate limited: Too Many Requests (try again in 120 seconds)"},
		{"an error in the stream", events(delta(`{"content":"x"}`), `{"error":{"message":"out of memory"}}`), fault.UpstreamError, "out of memory"},
		{"something else in the stream", events("not json"), fault.UpstreamProtocol, "cannot be read to its end"},
		{"a connection that breaks", func(w http.ResponseWriter, r *http.Request) {
			events(delta(`{"content":"x"}`))(w, r)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, fault.UpstreamProtocol, "cannot be read to its end"},
		{"nothing", answer(200, ""), fault.UpstreamProtocol, "not a chat completion"},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, m := serve(t, tt.h)
			_, err := c.Ask(t.Context(), m, []byte(`{}`), quiet)
			if !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAnEndpointThatIsNotThere(t *testing.T) {
	c, m := serve(t, nil)
	m.URL = "http://127.0.0.1:1/v1"
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); !fault.Is(err, fault.UpstreamDown) || !strings.Contains(err.Error(), "cannot be reached at http://127.0.0.1:1/v1") {
		t.Errorf("%v", err)
	}
}

func TestAnEndpointThatHangsIsLeft(t *testing.T) {
	c, m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		events(delta(`{"content":"x"}`))(w, r)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	var r *conversation.Reply
	for m.Timeout = 50 * time.Millisecond; r == nil || r.Text == ""; m.Timeout *= 2 { // a busy machine takes longer to the first piece
		var err error
		if r, err = c.Ask(t.Context(), m, []byte(`{}`), quiet); !fault.Is(err, fault.UpstreamTimeout) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if r.Text != "x" {
		t.Errorf("%+v", r)
	}
	m.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Ask(ctx, m, []byte(`{}`), func(conversation.Piece) error { cancel(); return nil }); err == nil || fault.Is(err, fault.UpstreamTimeout) {
		t.Errorf("%v", err)
	}
}

func TestWhatWasNotTakenIsSentAgain(t *testing.T) {
	var tries atomic.Int64
	var bodies []string
	c, m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies = append(bodies, fmt.Sprint(r.ContentLength))
		if tries.Add(1) < 3 {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		events(delta(`{"content":"x"}`), stop)(w, r)
	})
	m.Retries = 2
	r, err := c.Ask(t.Context(), m, []byte(`{"a":1}`), quiet)
	if err != nil || r.Text != "x" || tries.Load() != 3 || bodies[0] != bodies[2] {
		t.Errorf("%+v, %v, %d tries of %v", r, err, tries.Load(), bodies)
	}
}

func TestNoKeyOfTheEnvironmentIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody")
	t.Setenv("OPENAI_ORG_ID", "org")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	var header http.Header
	c, m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		events(stop)(w, r)
	})
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); err != nil {
		t.Fatal(err)
	}
	if header.Get("Authorization") != "" || header.Get("OpenAI-Organization") != "" {
		t.Errorf("%v", header)
	}
	m.Key = "mine"
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); err != nil || header.Get("Authorization") != "Bearer mine" {
		t.Errorf("%v, %v", header, err)
	}
}

func TestAnAnswerWithoutEndIsCutOff(t *testing.T) {
	piece := delta(`{"content":"` + strings.Repeat("x", 1<<16) + `"}`)
	c, m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", piece); err != nil {
				return
			}
		}
	})
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); !fault.Is(err, fault.TooLarge) {
		t.Errorf("%v", err)
	}
}

func TestKeyAndQuestionDoNotFollowARedirectToAnotherHost(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		c, m := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) })
		m.Key = "s3cret"
		_, err := c.Ask(t.Context(), m, []byte(`{}`), quiet)
		if !fault.Is(err, fault.UpstreamProtocol) || !strings.Contains(fault.As(err).Message, other.URL) || reached.Load() != 0 {
			t.Errorf("%d: %v, and %d requests came", status, err, reached.Load())
		}
	}
}
