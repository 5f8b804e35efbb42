package oauth

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestChallenges(t *testing.T) {
	type params = map[string]string
	for _, c := range []struct {
		name, header string
		want         []challenge
	}{
		{"nothing", "", nil},
		{"a bare scheme", "Bearer", []challenge{{"bearer", params{}}}},
		{"any case", `bEaReR ReSource_Metadata="https://a/x"`, []challenge{{"bearer", params{"resource_metadata": "https://a/x"}}}},
		{"several parameters", `Bearer realm="x", scope="a b",error=invalid_token`,
			[]challenge{{"bearer", params{"realm": "x", "scope": "a b", "error": "invalid_token"}}}},
		{"several challenges", `Basic realm="a, Bearer b", Bearer scope=x, Negotiate`,
			[]challenge{{"basic", params{"realm": "a, Bearer b"}}, {"bearer", params{"scope": "x"}}, {"negotiate", params{}}}},
		{"quotes in quotes", `Bearer realm="a \"b\" \\ c"`, []challenge{{"bearer", params{"realm": `a "b" \ c`}}}},
		{"an address without quotes", `Bearer resource_metadata=https://a/x?y=1, scope=z`,
			[]challenge{{"bearer", params{"resource_metadata": "https://a/x?y=1", "scope": "z"}}}},
		{"blanks around the sign", `Bearer scope = "a"`, []challenge{{"bearer", params{"scope": "a"}}}},
		{"a quote that does not end", `Bearer scope="a`, []challenge{{"bearer", params{"scope": "a"}}}},
		{"commas without anything", `,, Bearer ,, scope="a",,`, []challenge{{"bearer", params{"scope": "a"}}}},
		{"Chinese", `Bearer realm="登录", scope="a"`, []challenge{{"bearer", params{"realm": "登录", "scope": "a"}}}},
		{"a parameter without a scheme", `="x" Bearer scope=a`, []challenge{{"bearer", params{"scope": "a"}}}},
		{"the later of two", `Bearer scope=a, scope=b`, []challenge{{"bearer", params{"scope": "b"}}}},
	} {
		got := parseChallenges(c.header)
		if c.name == "a parameter without a scheme" {
			got = bearer(http.Header{"Www-Authenticate": {c.header}})
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
	several := http.Header{"Www-Authenticate": {`Basic realm="x"`, `Bearer error="insufficient_scope", scope="a  b"`}}
	if !WantsToken(several) || !reflect.DeepEqual(missing(several), []string{"a", "b"}) {
		t.Errorf("of several headers: %v", missing(several))
	}
	if missing(http.Header{"Www-Authenticate": {`Bearer scope="a"`}}) != nil {
		t.Error("a 403 for another reason is not about scopes")
	}
}

func FuzzChallenges(f *testing.F) {
	for _, seed := range []string{`Bearer scope="a"`, `Basic, Bearer a=b`, `=`, `"\`, `Bearer a="\"`, strings.Repeat("a=,", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range parseChallenges(header) {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) || c.params == nil {
				t.Errorf("%q: %v", header, c)
			}
		}
	})
}
