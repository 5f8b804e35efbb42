package mcp

import (
	"net/http"
	"strings"
	"testing"
)

func TestHeaderCarriesEveryText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain text stays", "get_weather", "get_weather"},
		{"blanks inside stay", "us west 1", "us west 1"},
		{"nothing stays nothing", "", ""},
		{"outer blanks would be lost", " us", "=?base64?IHVz?="},
		{"a line break would end the header", "a\r\nb", "=?base64?YQ0KYg==?="},
		{"what is not ASCII", "世界", "=?base64?5LiW55WM?="},
		{"what looks encoded and is not", "=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := EncodeHeader(c.text)
			if back, ok := DecodeHeader(got); got != c.want || !ok || back != c.text {
				t.Errorf("%q became %q and then %q", c.text, got, back)
			}
		})
	}
	for _, bad := range []string{"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="} {
		if _, ok := DecodeHeader(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("get_weather")
	f.Add(" 世\n")
	f.Add("=?base64??=")
	f.Fuzz(func(t *testing.T, text string) {
		DecodeHeader(text)
		text = strings.ToValidUTF8(text, "")
		value := EncodeHeader(text)
		if back, ok := DecodeHeader(value); !ok || back != text {
			t.Fatalf("%q became %q and then %q", text, value, back)
		}
		if strings.TrimSpace(value) != value || strings.ContainsAny(value, "\r\n\x00") {
			t.Fatalf("%q is no value of a header", value)
		}
	})
}

// TestModernFrontRefuses holds that header and body say the same.
func TestModernFrontRefuses(t *testing.T) {
	f := newTestFront(t, nil)
	mine := f.open(t, "2025-06-18")
	const call = `{"id":1,"method":"tools/call","params":{"_meta":META,"name":"世界"}}`
	with := func(more ...string) map[string]string {
		h := modernHeader(strings.Replace(call, "META", goodMeta, 1))
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	cases := []struct {
		name, body string
		header     map[string]string
		want       string
	}{
		{"all is well, and there is no such method here", call, with(), `404 -32601`},
		{"a method of another case", call, with(MethodHeader, "Tools/Call"), `400 -32020`},
		{"no method", call, with(MethodHeader, ""), `400 -32020`},
		{"another name", call, with(NameHeader, "get_weather"), `400 -32020`},
		{"a name in broken base64", call, with(NameHeader, "=?base64?5LiW55W?="), `400 -32020`},
		{"no name", call, with(NameHeader, ""), `400 -32020`},
		{"no version in the header", call, with(versionHeader, ""), `400 -32020`},
		{"a legacy version in the header", call, with(versionHeader, "2025-11-25"), `400 -32020`},
		{"a legacy version in the header of a session", call, with(versionHeader, "2025-06-18", sessionHeader, mine[sessionHeader]), `400 -32020`},
		{"a session that came along is not looked at", call, with(sessionHeader, mine[sessionHeader]), `404 -32601`},
		{"another version in the body", strings.Replace(call, "META", strings.Replace(goodMeta, "2026-07-28", "2027-01-01", 1), 1), with(), `400 -32020`},
		{"a version that nobody knows, in both", strings.Replace(call, "META", strings.Replace(goodMeta, "2026-07-28", "v999", 1), 1), with(versionHeader, "v999"), `400 -32022`},
		{"no _meta", `{"id":1,"method":"tools/list","params":{}}`, with(MethodHeader, "tools/list"), `400 -32602`},
		{"no params", `{"id":1,"method":"tools/list"}`, with(MethodHeader, "tools/list"), `400 -32602`},
		{"a _meta that is no object", `{"id":1,"method":"tools/list","params":{"_meta":[1]}}`, with(MethodHeader, "tools/list"), `400 -32602`},
		{"_meta twice", strings.Replace(call, `"name"`, `"_meta":{},"name"`, 1), with(), `400 -32602`},
		{"capabilities that are no object", strings.Replace(call, "META", strings.Replace(goodMeta, ":{}", ":true", 1), 1), with(), `400 -32602`},
		{"a version twice", strings.Replace(call, "META", `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+goodMeta[1:], 1), with(), `400 -32602`},
		{"a level that nobody knows", strings.Replace(call, "META", `{"io.modelcontextprotocol/logLevel":"loud",`+goodMeta[1:], 1), with(), `400 -32602`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := readAnswer(t, f.post(t, strings.Replace(c.body, "META", goodMeta, 1), c.header))[0]
			status, code, _ := strings.Cut(c.want, " ")
			if !strings.HasPrefix(got, status) || !strings.Contains(got, `"code":`+code) || !strings.Contains(got, `"id":1`) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		resp := f.do(t, method, "", with(sessionHeader, mine[sessionHeader]))
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: HTTP %d, allowed %q", method, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
}
