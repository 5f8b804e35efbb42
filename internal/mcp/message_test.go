package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, in string
		code     int // 0: it is a message
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 0},
		{"a text is an id", `{"id":"a","method":"ping"}`, 0},
		{"an integer of any size is an id", `{"id":-123456789012345678901234567890,"method":"ping"}`, 0},
		{"a notification", `{"method":"notifications/x","params":{}}`, 0},
		{"an answer", `{"id":1,"result":null}`, 0},
		{"an error answer", `{"id":1,"error":{"code":1,"message":"m"}}`, 0},
		{"an error to what could not be read has a null id", `{"id":null,"error":{}}`, 0},
		{"a key may be escaped", `{"\u0069d":1,"m\u0065thod":"ping"}`, 0},
		{"blanks may be anywhere", " {\n\"id\" : 1 ,\t\"method\" : \"ping\" }\r\n", 0},
		{"unknown members are left alone", `{"id":1,"method":"ping","x":{"id":2,"id":3}}`, 0},
		{"depth 512 is read", `{"id":1,"result":` + nested(511) + `}`, 0},

		{"depth 513 is not", `{"id":1,"result":` + nested(512) + `}`, CodeParse},
		{"two ids", `{"id":1,"id":1,"method":"ping"}`, CodeInvalidRequest},
		{"two methods, one escaped", `{"id":1,"method":"a","\u006dethod":"b"}`, CodeInvalidRequest},
		{"two params", `{"method":"a","params":{},"params":{}}`, CodeInvalidRequest},
		{"a lookalike of method", `{"id":1,"method":"a","Method":"b"}`, CodeInvalidRequest},
		{"a lookalike of params with a long s", `{"id":1,"method":"a","param\u017f":{}}`, CodeInvalidRequest},
		{"a lookalike of id alone", `{"ID":1,"method":"a"}`, CodeInvalidRequest},
		{"a null id of a request", `{"id":null,"method":"a"}`, CodeInvalidRequest},
		{"a fraction as id", `{"id":1.0,"method":"a"}`, CodeInvalidRequest},
		{"an exponent as id", `{"id":1e3,"method":"a"}`, CodeInvalidRequest},
		{"an object as id", `{"id":{},"method":"a"}`, CodeInvalidRequest},
		{"a boolean as id", `{"id":true,"method":"a"}`, CodeInvalidRequest},
		{"a method that is no text", `{"id":1,"method":5}`, CodeInvalidRequest},
		{"an empty method", `{"id":1,"method":""}`, CodeInvalidRequest},
		{"params that are an array", `{"id":1,"method":"a","params":[]}`, CodeInvalidRequest},
		{"null params", `{"id":1,"method":"a","params":null}`, CodeInvalidRequest},
		{"a request with a result", `{"id":1,"method":"a","result":1}`, CodeInvalidRequest},
		{"a result and an error", `{"id":1,"result":1,"error":{}}`, CodeInvalidRequest},
		{"nothing but an id", `{"id":1}`, CodeInvalidRequest},
		{"an answer to nobody", `{"result":{}}`, CodeInvalidRequest},
		{"an error to nobody", `{"error":{}}`, CodeInvalidRequest},
		{"an empty object", `{}`, CodeInvalidRequest},
		{"an array", `[{"id":1,"method":"a"}]`, CodeParse},
		{"nothing", ``, CodeParse},
		{"garbage", `hello`, CodeParse},
		{"a message and more", `{"id":1,"method":"a"} {}`, CodeParse},
		{"half a message", `{"id":1,"method":"a"`, CodeParse},
		{"a trailing comma", `{"id":1,"method":"a",}`, CodeParse},
		{"a raw control character", "{\"id\":1,\"method\":\"a\nb\"}", CodeParse},
		{"a byte order mark", "\ufeff" + `{"id":1,"method":"a"}`, CodeParse},
		{"a leading zero", `{"id":01,"method":"a"}`, CodeParse},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.in))
			var e *Error
			errors.As(err, &e)
			if c.code == 0 && err != nil || c.code != 0 && (e == nil || e.Code != c.code) {
				t.Errorf("got %v, want code %d", err, c.code)
			}
		})
	}
}

func TestErrorOfAPeerIsKeptByteForByteWhenItIsOne(t *testing.T) {
	cases := []struct{ name, in, out string }{
		{"an object with code and message", `{"message":"m","code":-1,"x":1.0}`, `{"message":"m","code":-1,"x":1.0}`},
		{"a text becomes data", `"boom"`, `{"code":-32603,"message":"error without a message","data":"boom"}`},
		{"null becomes data", `null`, `{"code":-32603,"message":"error without a message","data":null}`},
		{"a lacking code is filled in", `{"message":"m"}`, `{"code":-32603,"message":"m","data":{"message":"m"}}`},
		{"a lacking message is filled in", `{"code":5}`, `{"code":5,"message":"error without a message","data":{"code":5}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := string(AppendError(nil, nil, ParseError(json.RawMessage(c.in))))
			if want := `{"jsonrpc":"2.0","id":null,"error":` + c.out + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// FuzzParse holds three rules: Parse never panics; what it takes is JSON to everybody; and
// what it took, written again, is taken as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, `{"id":"\u0061","result":{"a":[1,2.0,null]}}`,
		`{"id":1,"error":{"code":1,"message":"m","data":[]}}`, `{"method":"x"}`, `{"ID":1}`, `[]`, `{"id":null,"error":{}}`, "{\"id\":\"\xff\",\"result\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no error of the wire", err)
			}
			if e.Code == CodeParse && json.Valid(data) && rawjson.Check(data) == nil && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
				t.Fatalf("valid JSON refused: %v", err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatal("taken, and no JSON")
		}
		again, err := Parse(encode(m))
		if err != nil {
			t.Fatalf("taken, written, and refused: %v", err)
		}
		if !bytes.Equal(again.ID, m.ID) || again.Method != m.Method || !bytes.Equal(again.Params, m.Params) ||
			!bytes.Equal(again.Result, m.Result) || !bytes.Equal(again.Error, m.Error) {
			t.Fatalf("%+v became %+v", m, again)
		}
		ParseError(m.Error)
	})
}

func encode(m Message) []byte {
	switch {
	case m.IsNotification():
		return AppendNotification(nil, m.Method, m.Params)
	case m.IsRequest():
		b := append([]byte(`{"id":`), m.ID...)
		return appendMethod(b, m.Method, m.Params)
	case m.Error != nil:
		return append(append(append(append([]byte(`{"id":`), m.ID...), `,"error":`...), m.Error...), '}')
	}
	return AppendResult(nil, m.ID, m.Result)
}

func TestAnAnswerIsWhole(t *testing.T) {
	for _, size := range []int{0, 10, 5000, 70_000} {
		result := `{"data":"` + strings.Repeat("x", size) + `"}`
		want := `{"jsonrpc":"2.0","id":7,"result":` + result + `}`
		for name, behind := range map[string]string{"the brace": "}", "something else": ",", "nothing": ""} {
			raw := json.RawMessage(result + behind)
			w := httptest.NewRecorder()
			writeResult(w, json.RawMessage("7"), raw[:len(result)])
			if got := w.Body.String(); got != want || w.Header().Get("Content-Length") != strconv.Itoa(len(want)) {
				t.Errorf("%d bytes with %s behind: %.50s… of %d bytes", size, name, got, len(got))
			}
		}
	}
}

func TestTheLongestStringOfAResultIsKnown(t *testing.T) {
	for message, want := range map[string]string{
		`{"id":1,"result":{"content":[{"text":"ab","type":"t"}]},"x":"is not in it"}`: `"ab"`,
		` { "result" : { "a very long name" : [ 1, "a\"b", "ab" ] } , "id" : 1 } `:    `"a\"b"`,
		`{"x":"is not in it","id":1,"result":{"a":"b"}}`:                              "",
		`{"id":1,"result":{}}`: "",
	} {
		m, err := Parse([]byte(message))
		if got := m.Result[m.Longest.Start:m.Longest.End]; err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", message, got, err)
		}
	}
}
