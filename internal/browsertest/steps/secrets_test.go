package steps_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestASecretIsMaskedHoweverItIsWritten(t *testing.T) {
	const secret = "pä~ s(5)*!'\"\\<密>/x"
	v := steps.NewVars(nil)
	v.Hide(secret)
	inJSON, _ := json.Marshal(secret) // a string
	for name, text := range map[string]string{
		"as it stands": secret, "in JSON": string(inJSON), "in HTML": html.EscapeString(secret), "in a query": url.QueryEscape(secret),
		"in a path":                 url.PathEscape(secret),
		"as a form sends it":        "p%C3%A4%7E+s%285%29*%21%27%22%5C%3C%E5%AF%86%3E%2Fx",
		"as a script encodes it":    "p%C3%A4~%20s(5)*!'%22%5C%3C%E5%AF%86%3E%2Fx",
		"in small letters":          "p%c3%a4~%20s(5)*!'%22%5c%3c%e5%af%86%3e/x",
		"in code":                   `fill('pä~ s(5)*!\'"\\<密>/x')`,
		"where space was joined":    strings.ReplaceAll(secret, " ", "\n \t"),
		"with a space of its own":   strings.ReplaceAll(secret, " ", "\u00a0"),
		"as JSON that is all ASCII": `p\u00e4~ s(5)*!'\"\\<\u5BC6>\/x`,
	} {
		if got := v.Mask("<" + text + ">"); got != "<•••>" && got != `<"•••">` && got != "<fill('•••')>" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if text := "pä~ s(5)*!'\"\\<密>/y p s 5 x"; v.Mask(text) != text {
		t.Errorf("what is no secret is masked: %s", v.Mask(text))
	}
	for _, none := range []string{"", " ", "\n"} {
		v.Hide(none)
	}
	if v.Mask("a b\n") != "a b\n" {
		t.Error("space is masked")
	}
}

func TestALongSecretIsMaskedHoweverItIsWritten(t *testing.T) {
	for name, secret := range map[string]string{
		"a certificate": "-----BEGIN KEY-----\n" + strings.Repeat("MII%+/KEY=\n", 300) + "-----END KEY-----\n",
		"an account":    `{"type": "account", "key": "` + strings.Repeat(`KEY+/&<x>'\\n`, 300) + `"}`,
		"many signs":    strings.Repeat("KEY 密码。\\ + + ", 300),
	} {
		v := steps.NewVars(nil)
		v.Hide(secret)
		inJSON, _ := json.Marshal(secret)         // a string
		inBoth, _ := json.Marshal(string(inJSON)) // a string
		for form, text := range map[string]string{
			"as it stands": secret, "in JSON": string(inJSON), "in JSON in JSON": string(inBoth), "in HTML": html.EscapeString(secret),
			"in a query":              url.QueryEscape(secret),
			"as a script encodes it":  strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
			"as a form sends it":      url.QueryEscape(strings.ReplaceAll(secret, "\n", "\r\n")),
			"in code":                 "fill('" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(secret) + "')",
			"where space was joined":  strings.Join(strings.Fields(secret), " "),
			"where its end is cut":    secret[:len(secret)/2],
			"twice, and not as whole": secret + " and " + secret[:2000],
		} {
			if got := v.Mask("a<" + text + ">b"); strings.Count(got, "KEY") > 10 || !strings.HasPrefix(got, "a<") || !strings.HasSuffix(got, ">b") {
				t.Errorf("%s %s: %.100s", name, form, got)
			}
		}
	}
}

func TestAFileTellsWhichSecretsItNames(t *testing.T) {
	files := map[string]string{"in.yaml": "- 在密码输入框输入 \"${env:INNER}\"\n- include: deep.md\n", "deep.md": "# x\n- 在密码输入框输入 \"${env:DEEP}\"\n"}
	read := func(path string) ([]byte, error) {
		text, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("no %s", path)
		}
		return []byte(text), nil
	}
	s, err := steps.Parse("t.yaml", []byte("vars: {pw: \"${env:PW}\"}\nsetup: [{include: in.yaml}]\nsteps:\n  - 打开 "+
		"http://h/$${env:NOT}?${env:PW}${env:密码}\n"), read)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"PW", "密码", "INNER", "DEEP"}; !slices.Equal(s.Env, want) {
		t.Errorf("%q", s.Env)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("hunter2", "the password is ", "!")
	f.Add("a b\\\"", "{\"x\":\"", "\"}")
	f.Add("密\xff码", "", "")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		bare := strings.TrimSpace(secret)
		if bare == "" || !utf8.ValidString(bare) || strings.ContainsAny(bare, "•") {
			t.Skip()
		}
		v := steps.NewVars(nil)
		v.Hide(secret)
		for _, text := range []string{before + secret + after, before + url.QueryEscape(secret) + after} {
			if got := v.Mask(text); strings.Contains(got, bare) && !strings.Contains(before, bare) && !strings.Contains(after, bare) {
				t.Errorf("%q is in %q", bare, got)
			}
		}
	})
}
