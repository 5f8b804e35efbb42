package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

func TestATokenIsExplained(t *testing.T) {
	w := newWorld(t)
	p := idp.New(t)
	put(t, "toolfit.yaml", fmt.Sprintf(`publicURL: https://tools.example.com/
profiles: {default: {}, ops: {}, 工具: {}}
identity:
- issuer: %s
  scope: mcp:tools
  map:
  - {groups: [platform, root], role: admin}
  - {subjects: [bob]}
  - {client: ci-bot, profile: ops}
  - {scope: all, profile: ops}
  - {groups: [eng], profile: ops}
`, p.URL))
	const all = "https://tools.example.com/mcp"
	claims := func(changes ...any) string { return p.Token(t, p.Claims(append([]any{"aud", all}, changes...)...)) }
	for name, c := range map[string]struct {
		token string
		args  []string
		code  int
		want  []string
	}{
		"all is well": {claims(), nil, 0, []string{
			`ok +issuer +http://\S+`, `ok +algorithm +EdDSA`, `ok +signature +made with the key "ed"`, `ok +expiry +in (1h0m0s|59m59s)`,
			`ok +subject +alice, a person`, `ok +client +editor`, `ok +groups +eng`,
			`- +map\[0\] +does not fit: it needs one of the groups platform, root`, `- +map\[1\] +does not fit: it needs one of the subjects bob`,
			`- +map\[2\] +does not fit: it needs the client ci-bot`, `- +map\[3\] +does not fit: it needs the scope all`,
			`ok +rights +by map\[4\]: role caller, profile ops`, `ok +audience +` + all, `ok +scope +mcp:tools openid`}},
		"as a header":     {"Bearer " + claims() + "\n", nil, 0, []string{`ok +scope .*`}},
		"of Okta":         {claims("azp", nil, "cid", "ci-bot", "sub", "ci-bot"), nil, 0, []string{`ok +subject +ci-bot, a service`, `ok +rights +by map\[2\].*`}},
		"no groups":       {claims("groups", nil), nil, 1, []string{`ok +groups +none in groups; the claims are aud, azp, exp, iat, iss, scope, sub`, `no +rights +alice is signed in, but no mapping gives rights here .*`}},
		"other audience":  {claims("aud", "api://x"), nil, 1, []string{`no +audience +it is for api://x, not for https://tools.example.com/mcp; audiences can name others`}},
		"no audience":     {claims("aud", nil), nil, 1, []string{`no +audience +it has no aud, so it may be for anybody`}},
		"no scope":        {claims("scope", "x"), nil, 1, []string{`no +scope +the token lacks the scope mcp:tools .*`}},
		"expired":         {claims("exp", 1000), nil, 1, []string{`no +expiry +it expired \S+ ago`}},
		"an ID token":     {claims("at_hash", "x"), nil, 1, []string{`no +type +it is an ID token, .* an access token is needed`}},
		"another issuer":  {claims("iss", "https://x"), nil, 1, []string{`no +issuer +"https://x" is not the issuer of a provider in identity`}},
		"encrypted":       {"a.b.c.d.e", nil, 1, []string{`no +form +it is encrypted .*`}},
		"opaque":          {"gho_abc", nil, 1, []string{`no +form +it is not a JWT, and no provider in identity has introspect`}},
		"garbage":         {"a.b.c", nil, 1, []string{`no +form +it cannot be read as a signed JWT: .*`}},
		"its profile":     {claims("aud", all+"/ops"), []string{"--profile", "ops"}, 0, []string{`ok +audience .*`}},
		"other profile":   {claims(), []string{"--profile", "default"}, 1, []string{`no +profile +alice may not use profile "default" .*`}},
		"Chinese profile": {claims("aud", all+"/%E5%B7%A5%E5%85%B7"), []string{"--profile", "工具"}, 1, []string{`ok +audience .*`, `no +profile .*`}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := w.runWith(t, c.token, append([]string{"auth", "explain", "-"}, c.args...)...)
			if code != c.code || (code != 0) != strings.Contains(errs, "the token is refused") {
				t.Errorf("exit code %d: %s", code, errs)
			}
			wants(t, out, c.want...)
		})
	}
	for input, want := range map[string]string{
		"": "there is no token", " \n": "there is no token", "tf_abc": "of toolfit itself", "tfa_abc": "of toolfit itself",
	} {
		if code, _, errs := w.runWith(t, input, "auth", "explain", "-"); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s", input, code, errs)
		}
	}
	if code, _, errs := w.runWith(t, claims(), "auth", "explain", "-", "--profile", "none"); code != 1 || !strings.Contains(errs, `there is no profile "none"`) {
		t.Errorf("a profile that does not exist: %d %s", code, errs)
	}
	if exists("toolfit.db") {
		t.Error("explaining made a store")
	}
	v := identity.New([]config.Identity{{Issuer: p.URL, Map: []config.Mapping{{}}}}, &identity.Options{Base: all})
	alice := v.Explain(t.Context(), claims(), "").Who
	st, err := store.Open(t.Context(), "toolfit.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	person := store.Person{ID: alice.ID, Issuer: p.URL, Subject: "alice", Kind: "user", Name: "alice", SeenAt: time.Now(), Role: "caller", Profile: "ops"}
	_, missing := st.DisablePerson(t.Context(), alice.ID, time.Now())
	if err := errors.Join(st.SavePerson(t.Context(), person), st.Close()); err != nil || missing == nil {
		t.Fatal(err, missing)
	}
	if code, out, errs := w.runWith(t, claims(), "auth", "explain", "-"); code != 0 {
		t.Errorf("somebody who was here: %d %s%s", code, out, errs)
	}
	w.run(t, "people", "disable", "alice")
	_, out, _ := w.runWith(t, claims(), "auth", "explain", "-")
	wants(t, out, `no +person +disabled since 20.*; to let them in: toolfit people enable u_\w+`)
	if code, _, errs := w.run(t, "auth", "explain", "ey.x.y"); code != 2 || !strings.Contains(errs, "must come from standard input") {
		t.Errorf("an argument: %d %s", code, errs)
	}
}
