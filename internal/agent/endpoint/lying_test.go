package endpoint

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// rawBody answers with the very bytes, as a stream of events or not.
func rawBody(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// calling is an event with parts of calls.
func calling(parts ...string) string {
	return delta(`{"tool_calls":[` + strings.Join(parts, ",") + `]}`)
}

// TestAnswersAreReadAsEndpointsGiveThem has the ways in which endpoints leave the protocol:
// nothing that was said may be lost for its form, least of all the arguments of a call.
func TestAnswersAreReadAsEndpointsGiveThem(t *testing.T) {
	const read, list = `"function":{"name":"read","arguments":"{\"x\":1}"}`, `"function":{"name":"list","arguments":"{}"}`
	both := `"" [{ read {"x":1}} { list {}}] stop`
	cases := []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"content in parts", events(delta(`{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`), stop), `"ab" [] stop`},
		{"thoughts among the parts", events(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"b"}]}`), stop), `"b" [] stop hm`},
		{"reasoning under another name", events(delta(`{"reasoning":"hm"}`), delta(`{"content":"b"}`), stop), `"b" [] stop hm`},
		{"reasoning under both names", events(delta(`{"reasoning":"hm","reasoning_content":"hm"}`), stop), `"" [] stop hm`},
		{"arguments that are an object", events(calling(`{"index":0,"id":"a","function":{"name":"read","arguments":{"x":1}}}`), stop), `"" [{a read {"x":1}}] stop`},
		{"arguments that are null", events(calling(`{"index":0,"id":"a","function":{"name":"read","arguments":null}}`), stop), `"" [{a read }] stop`},
		{"calls without index and id, at once", events(calling(`{`+read+`}`, `{`+list+`}`), stop), both},
		{"calls without index and id, one after the other", events(calling(`{`+read+`}`), calling(`{`+list+`}`), stop), both},
		{"calls with one index and empty ids", events(calling(`{"index":0,"id":"",`+read+`}`), calling(`{"index":0,"id":"",`+list+`}`), stop), both},
		{"one tool twice without index and id", events(calling(`{`+read+`}`), calling(`{`+read+`}`), stop), `"" [{ read {"x":1}} { read {"x":1}}] stop`},
		{"pieces without an index", events(calling(`{"id":"a","function":{"name":"read","arguments":"{\"x\""}}`), calling(`{"function":{"arguments":":1}"}}`), stop), `"" [{a read {"x":1}}] stop`},
		{"pieces without an index, by id", events(calling(`{"id":"a","function":{"name":"r","arguments":"{"}}`, `{"id":"b","function":{"name":"s","arguments":"{"}}`),
			calling(`{"id":"a","function":{"arguments":"}"}}`, `{"id":"b","function":{"arguments":"}"}}`), stop), `"" [{a r {}} {b s {}}] stop`},
		{"another id with each piece", events(calling(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x\""}}`), calling(`{"index":0,"id":"b","function":{"arguments":":1}"}}`), stop), `"" [{a read {"x":1}}] stop`},
		{"an id that is a number", events(calling(`{"index":"0","id":7,`+list+`}`), stop), `"" [{7 list {}}] stop`},
		{"no reason at a said end", events(delta(`{"content":"x"}`), "[DONE]"), `"x" [] stop`},
		{"no space after data", rawBody("data:" + delta(`{"content":"x"}`) + "\n\ndata:" + stop + "\n\ndata:[DONE]\n\n"), `"x" [] stop`},
		{"comments and other fields", rawBody(": keep-alive\n\ndata:\n\ndata: \n\nid: 1\nretry: 10\nevent: message\ndata: " + delta(`{"content":"x"}`) + "\n\n: ping\n\ndata: " + stop + "\n\n"), `"x" [] stop`},
		{"lines that end as on Windows", rawBody("data: " + delta(`{"content":"x"}`) + "\r\n\r\ndata: " + stop + "\r\n\r\n"), `"x" [] stop`},
		{"no empty line between events, nor at the end", rawBody("data: " + delta(`{"content":"x"}`) + "\ndata: " + stop), `"x" [] stop`},
		{"a document on several lines", rawBody("data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"), `"x" [] stop`},
		{"a mark of byte order", rawBody("\xef\xbb\xbfdata: " + delta(`{"content":"x"}`) + "\n\ndata: [DONE]\n\n"), `"x" [] stop`},
		{"a whole answer in place of a stream", rawBody(`{"choices":[{"message":{"content":"x","tool_calls":[{"id":"a","type":"function",` + read + `}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`), `"x" [{a read {"x":1}}] stop`},
		{"a whole answer without a reason", rawBody(` {"choices":[{"index":0,"message":{"content":"x"}}]}`), `"x" [] stop`},
		{"null where nothing is", events(`{"choices":null,"usage":null,"error":null}`, `{"choices":[{"delta":null,"finish_reason":null}]}`, delta(`{"content":null,"tool_calls":null,"refusal":null}`), stop), `"" [] stop`},
		{"wrong types elsewhere", events(`{"id":1,"created":"now","model":null,"choices":[{"index":0,"delta":{"content":"x","role":1},"logprobs":[]}],"usage":"none"}`, stop), `"x" [] stop`},
		{"bytes that are no text", events("{\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}", stop), `"a�b" [] stop`},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, m := serve(t, tt.h)
			r, err := c.Ask(t.Context(), m, []byte(`{}`), quiet)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(fmt.Sprintf("%q %v %s %s", r.Text, r.Calls, r.Finish, r.Thoughts)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAnErrorWithoutEndIsNotReadToIt(t *testing.T) {
	c, m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if _, err := c.Ask(t.Context(), m, []byte(`{}`), quiet); !fault.Is(err, fault.UpstreamError) {
		t.Errorf("%v", err)
	}
}

// FuzzAnswer holds that no answer, whatever is in it, breaks the reader, and that what was
// heard is what is said in the end.
func FuzzAnswer(f *testing.F) {
	f.Add("data: " + delta(`{"content":[{"text":"x"}],"reasoning":"y"}`) + "\n\ndata: [DONE]\n")
	f.Add("data: " + calling(`{"function":{"name":"a","arguments":{}}}`, `{"index":1,"id":"b"}`) + "\n\n: x\n")
	f.Add(`{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1}}`)
	f.Add("<html><title>x")
	f.Add("event: error\ndata: 1\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		a := answer{model: "m"}
		var text, thoughts strings.Builder
		err := a.read(strings.NewReader(body), func(p conversation.Piece) error {
			text.WriteString(p.Text)
			thoughts.WriteString(p.Thought)
			return nil
		})
		if r := a.reply(); err == nil && (r.Text != text.String() || r.Thoughts != thoughts.String()) {
			t.Errorf("heard %q and %q, got %+v", text.String(), thoughts.String(), r)
		}
		if !a.begun && a.nothing().Error() == "" {
			t.Error("nothing is said of nothing")
		}
	})
}

// BenchmarkAnswer reads an answer of a thousand pieces.
func BenchmarkAnswer(b *testing.B) {
	piece := `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"words "},"logprobs":null,"finish_reason":null}]}`
	body := strings.Repeat("data: "+piece+"\n\n", 1000) + "data: " + stop + "\n\ndata: [DONE]\n\n"
	b.ReportAllocs()
	for b.Loop() {
		a := answer{model: "m"}
		if err := a.read(strings.NewReader(body), quiet); err != nil || a.text.Len() != 6000 {
			b.Fatal(err, a.text.Len())
		}
	}
}
