package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/secret"
)

func TestSecretsAreFoundHoweverTheyAreWritten(t *testing.T) {
	f := secret.NewFinder([]string{"abcd", "abcd-efgh", "p@ss <word>/1", `"q"\`, "x%40y-z", "ü", "密码一二三"})
	for in, want := range map[string]string{
		"x abcd-efgh abcd y":                   "x *** *** y",
		"p@ss <word>/1":                        "***",
		"?k=p%40ss+%3Cword%3E%2F1":             "?k=***",
		"/p@ss%20%3Cword%3E%2F1/":              "/***/",
		`{"k":"\"q\"\\"}`:                      `{"k":"***"}`,
		`{"k":"p@ss \u003cword\u003e/1"}`:      `{"k":"***"}`,
		"read as x@y-z":                        "read as ***",
		"ü and 密码一二三":                          "*** and ***",
		"Basic " + encode("me:密码一二三"):          "Basic " + encode("me:密码一二三")[:4] + "***",
		"nothing, abc, 密码一二":                   "nothing, abc, 密码一二",
		"":                                     "",
		"abc":                                  "abc",
		strings.Repeat("ab", 3) + "abcd" + "a": strings.Repeat("ab", 3) + "***a",
	} {
		out, n := f.Redact([]byte(in), "***")
		if n == 0 && out != nil {
			t.Errorf("%q: nothing was found, and %q given", in, out)
		}
		if n == 0 {
			out = []byte(in)
		}
		if string(out) != want || n != strings.Count(want, "***") {
			t.Errorf("%q became %q with %d, want %q", in, out, n, want)
		}
	}
}

func TestOfSecretsThatOverlapNothingIsLeft(t *testing.T) {
	f := secret.NewFinder([]string{"xxabc", "abcdef"})
	if out, n := f.Redact([]byte("1 xxabcdef 2"), "***"); string(out) != "1 *** 2" || n != 1 {
		t.Errorf("%q, %d", out, n)
	}
}

// TestMoreSecretsChangeNoFinder: whoever reads with the old one finds what it found.
func TestMoreSecretsChangeNoFinder(t *testing.T) {
	first := secret.NewFinder([]string{"hunter2-a", "x"})
	second := first.With([]string{"hunter2-b", "y"})
	third := first.With([]string{"hunter2-c", "z"})
	for f, want := range map[*secret.Finder]string{first: "* hunter2-b hunter2-c * y z", second: "* * hunter2-c * * z", third: "* hunter2-b * * y *"} {
		if got, _ := f.Redact([]byte("hunter2-a hunter2-b hunter2-c x y z"), "*"); string(got) != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestNoSecretIsFoundWhereThereAreNone(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}} {
		f := secret.NewFinder(secrets)
		if out, n := f.Redact([]byte("any text"), "***"); !f.Empty() || out != nil || n != 0 {
			t.Errorf("%q: %q, %d", secrets, out, n)
		}
	}
}

// FuzzRedact holds that no usual way of writing a secret is left, wherever it stands.
func FuzzRedact(f *testing.F) {
	f.Add("hunter2-hunter2", "before ", " behind")
	f.Add("p@ss <word>/1", "", "\xff")
	f.Add("密码一二三四", "{", "}")
	f.Fuzz(func(t *testing.T, s, before, behind string) {
		if len(strings.TrimSpace(s)) < 8 || len(s) > 100 {
			return
		}
		finder := secret.NewFinder([]string{s})
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), string(quoted[1 : len(quoted)-1])} {
			if out, n := finder.Redact([]byte(before+form+behind), ""); n == 0 {
				t.Errorf("%q is left in %q", form, out)
			}
		}
		if _, n := finder.Redact([]byte(encode(before+s+behind)), ""); n == 0 {
			t.Errorf("%q is left in the base64 of %q", s, before+s+behind)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	var secrets []string
	for i := range 50 {
		secrets = append(secrets, fmt.Sprintf("sk-live-%020d", i))
	}
	f := secret.NewFinder(secrets)
	text := []byte(strings.Repeat(`{"EnvId":"sk-prod-6f4047d4fe","Alias":"shop","Status":"NORMAL"},`, 800))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		f.Redact(text, "***")
	}
}
