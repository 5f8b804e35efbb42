package mcp

import "testing"

func TestBrokenAnswer(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"with NaN in it", `{"jsonrpc":"2.0","id":3,"result":{"mean":NaN}}`, "3"},
		{"with its id last", `{"result":{"mean":NaN},"jsonrpc":"2.0","id":"a"}`, `"a"`},
		{"with two results", `{"id":3,"result":1,"result":2}`, "3"},
		{"cut off", `{"id":3,"error":{"code":`, "3"},
		{"a line of a log with an id", `{"level":30,"id":3,"msg":"request received"}`, ""},
		{"a request in a log", `got {"params":{},"method":"tools/call","id":3}`, ""},
		{"an answer in a log", `sent {"result":{},"jsonrpc":"2.0","id":3}`, ""},
		{"a broken request", `{"id":3,"method":"x","params":NaN,"result":1}`, ""},
		{"an id that is no id", `{"id":{},"result":NaN}`, ""},
		{"the id of something inside", `{"result":{"a":NaN,"id":3}}`, ""},
		{"nothing", ``, ""},
		{"no object", `[3]`, ""},
	} {
		if got := string(BrokenAnswer([]byte(c.line))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
