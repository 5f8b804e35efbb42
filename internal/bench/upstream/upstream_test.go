package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func newServer(t *testing.T, o *Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnswer(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, c := range []struct {
		name    string
		modern  bool
		message string
		want    string // "" for no answer
	}{
		{"a notification has no answer", false, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"echo returns its message", false,
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"a\u00e9"}}}`,
			`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a\u00e9"}]}}`},
		{"a legacy server does not know the modern era", false, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}`},
		{"a modern result is complete", true,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":{"message":"a"}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"resultType":"complete"}}`},
		{"a modern server still answers the old way", true,
			`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"message":"a"}}}`,
			`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"a"}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var count atomic.Int64
			got, err := newServer(t, &Options{Tools: 2, Modern: c.modern, Count: &count}).Answer([]byte(c.message))
			if err != nil || string(got) != c.want || count.Load() != 1 {
				t.Errorf("got %s, %v, %d counted", got, err, count.Load())
			}
		})
	}
}

func TestEverySetListsValidToolsOfTheirOwnNames(t *testing.T) {
	for _, o := range []Options{{Tools: 200}, {Set: SetGrowth, Tools: MostGrowth}, {Set: SetGrowth, Tools: 20, Server: 9}, {Set: SetOdd}} {
		t.Run(fmt.Sprint(o.Set, o.Tools), func(t *testing.T) {
			s := newServer(t, &o)
			var list struct{ Tools []struct{ Name string } }
			if err := json.Unmarshal(s.lists.Load().legacy, &list); err != nil {
				t.Fatal(err)
			}
			if want := o.Tools; o.Set != SetOdd && len(list.Tools) != want {
				t.Errorf("%d tools, want %d", len(list.Tools), want)
			}
			seen := map[string]bool{}
			for _, tool := range list.Tools {
				if seen[tool.Name] {
					t.Errorf("%s comes twice", tool.Name)
				}
				seen[tool.Name] = true
			}
		})
	}
}

func TestLinesAreAnsweredUntilTheInputEnds(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\nno message\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
	if err := newServer(t, &Options{Tools: 2}).ServeLines(in, &out); err != nil {
		t.Fatal(err)
	}
	if want := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n"; out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestAChangedListHasOneTextThatIsNew(t *testing.T) {
	s := newServer(t, &Options{Tools: 5})
	for range 2 {
		text := s.Change()
		answer, err := s.Answer([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil || strings.Count(string(answer), text) != 1 || strings.Count(string(answer), `"inputSchema"`) != 5 {
			t.Errorf("no %q in %s, %v", text, answer, err)
		}
	}
}

func TestABigResultIsAsBigAsAskedFor(t *testing.T) {
	s := newServer(t, &Options{Tools: 5})
	for _, size := range []int{1000, 50_000, 1_000_000} {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"bytes":%d}}}`, size)
		if answer, err := s.Answer([]byte(call)); err != nil || len(answer) < size || len(answer) > size*3/2 {
			t.Errorf("%d bytes for %d, %v", len(answer), size, err)
		}
	}
}

func TestAListIsAsLargeOnOneServerAsOnMany(t *testing.T) {
	one, many := len(benchTools(200)), 200*len(benchTools(1))
	if one < many*9/10 || one > many*11/10 {
		t.Errorf("%d bytes on one server, %d on 200", one, many)
	}
}
