package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseServer(t *testing.T) {
	env := func(name string) (string, bool) { return "hush-hush", name == "TOKEN" }
	cases := []struct {
		name, in, err string
		secret        bool
	}{
		{"a command", `{"name":"a","command":"x","args":["-y"]}`, "", false},
		{"a URL", `{"name":"a","url":"http://x/mcp"}`, "", false},
		{"a variable is filled in and is no secret of the text", `{"name":"a","url":"http://x","headers":{"A":"Bearer ${TOKEN}"}}`, "", false},
		{"a header is a secret", `{"name":"a","url":"http://x","headers":{"A":"Bearer abc"}}`, "", true},
		{"a header that only looks like a variable is one too", `{"name":"a","url":"http://x","headers":{"A":"abc$${x}"}}`, "", true},
		{"an environment variable is a secret", `{"name":"a","command":"x","env":{"KEY":"abcd"}}`, "", true},
		{"a very short one is none", `{"name":"a","command":"x","env":{"DEBUG":"1"}}`, "", false},
		{"a password in a URL is a secret", `{"name":"a","url":"http://me:pw@x"}`, "", true},
		{"so is a query, which often is a key", `{"name":"a","url":"http://x?key=1"}`, "", true},
		{"no name", `{"command":"x"}`, "needs one name", false},
		{"two names", `{"name":"a","name":"b","command":"x"}`, "needs one name", false},
		{"a name that is no text", `{"name":5,"command":"x"}`, "needs one name", false},
		{"a name that tool names cannot carry", `{"name":"a__b","command":"x"}`, "__", false},
		{"no way to reach it", `{"name":"a"}`, "server a: needs one of command", false},
		{"two ways", `{"name":"a","command":"x","url":"http://x"}`, "keep one", false},
		{"an unknown key", `{"name":"a","comand":"x"}`, `server a: comand: unknown key; did you mean "command"?`, false},
		{"a variable that is not set", `{"name":"a","command":"${NOPE}"}`, "NOPE is not set", false},
		{"no JSON", `name: a`, "not JSON", false},
		{"no object", `[]`, "must be a JSON object", false},
		{"nothing", ``, "must be a JSON object", false},
		{"no UTF-8", "{\"name\":\"\xff\"}", "UTF-8", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseServer("/etc/toolfit.yaml", []byte(c.in), env)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || got.ID != "a" || got.Secret != c.secret || got.CallTimeout() != time.Minute {
				t.Errorf("got %+v, %v", got, err)
			}
			if strings.Contains(c.in, "TOKEN") && (!slices.Contains(got.Secrets, "hush-hush") || got.Headers["A"] != "Bearer hush-hush") {
				t.Errorf("the variable: %+v", got)
			}
		})
	}
}

func FuzzParseServer(f *testing.F) {
	f.Add([]byte(`{"name":"a","command":"x","env":{"A":"b"},"timeouts":{"x*":"1s"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseServer("toolfit.yaml", bytes.ReplaceAll(data, []byte("${file:"), []byte("${")), func(string) (string, bool) {
			return "",
				false
		})
		if err == nil && got.ID == "" {
			t.Error("a server without a name")
		}
	})
}
