package cloudbase

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
)

// seen is what a model gets of a call through a server of this name, whose structured content
// comes first and whose text second.
func seen(t *testing.T, s *Server, server tool.ServerID, name, args string) (structured, text string) {
	t.Helper()
	rules, problems := project.Compile(Rules(server))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	raw, err := s.Serve(t.Context(), request(name, args, nil))
	if err != nil {
		t.Fatal(err)
	}
	if rule := rules.Choose(tool.Canonical(server, name), "default", []byte(args)).On; rule != nil {
		raw = project.Plan(t.Context(), raw, rule.How(project.How{Shape: shape.Auto})).Apply("r_1")
	}
	var a answered
	decode(t, raw, &a)
	return string(a.Structured), a.Content[0].Text
}

func TestAModelGetsSevenFieldsOfAList(t *testing.T) {
	full := `{"EnvId":"a","Alias":"x","Status":"NORMAL","EnvType":"baas","Region":"r","PackageName":"个人版","IsDefault":false,"PackageId":"p","Databases":[{"a":1}],"Tags":[]}`
	kept := `{"EnvId":"a","Alias":"x","Status":"NORMAL","EnvType":"baas","Region":"r","PackageName":"个人版","IsDefault":false}`
	note := func(n string) string { return `,"_omitted":` + n }
	for _, c := range []struct{ name, answer, args, want string }{
		{"rows are cut", `{"EnvList":[` + full + `]}`, ``,
			`{"EnvList":[` + kept + `],"TotalCount":1` + note(`{"fields":["Databases","PackageId","Tags"]`)},
		{"the other shape is cut alike", `{"Data":{"EnvList":[` + full + `]}}`, ``,
			`{"EnvList":[` + kept + `],"TotalCount":1` + note(`{"fields":["Databases","PackageId","Tags"]`)},
		{"an empty list", `{"EnvList":[]}`, ``, `{"EnvList":[],"TotalCount":0}`},
		{"null", `{"EnvList":null}`, ``, `{"EnvList":null}`},
		{"absent", `{"RequestId":"r"}`, ``, `{}`},
		{"no list at all passes unchanged", `{"EnvList":{"EnvId":"a","x":1}}`, ``, `{"EnvList":{"EnvId":"a","x":1}}`},
		{"a text passes unchanged", `{"EnvList":"soon"}`, ``, `{"EnvList":"soon"}`},
		{"a missing field stays missing, a null stays null", `{"EnvList":[{"EnvId":"a","Alias":null,"IsDefault":true}]}`, ``,
			`{"EnvList":[{"EnvId":"a","Alias":null,"IsDefault":true}],"TotalCount":1}`},
		{"pages and filters say so", `{"EnvList":[` + full + `,` + full + `]}`, `,"limit":1,"alias":"x"`,
			`{"EnvList":[` + kept + `],"TotalCount":2,"Limit":1,"Offset":0,"HasMore":true,"AppliedFilters":{"alias":"x"}` +
				note(`{"fields":["Databases","PackageId","Tags"]`)},
		{"fields override the rule", `{"EnvList":[` + full + `]}`, `,"fields":["EnvId","PackageId"]`,
			`{"EnvList":[{"EnvId":"a","PackageId":"p"}],"TotalCount":1}`},
	} {
		for _, name := range []string{"envQuery", "queryEnv", "listEnvs"} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				s, api := open(t)
				api.Play("DescribeEnvs", fake.Answer(c.answer), fake.Answer(c.answer))
				structured, text := seen(t, s, "any_name", name, `{"action":"list"`+c.args+`}`)
				if !strings.HasPrefix(structured, c.want) || !strings.HasPrefix(text, c.want) {
					t.Errorf("got %s\nand %s\nwant %s", structured, text, c.want)
				}
			})
		}
	}
}

func TestEachFallbackIsCutAlike(t *testing.T) {
	row := `{"EnvId":"a","Databases":[1]}`
	for name, scene := range map[string]fake.Scene{"an error": fake.Fail("InternalError", ""), "no list": fake.Answer(`{"EnvList":null}`)} {
		for shape, answer := range map[string]string{"EnvList": `{"EnvList":[` + row + `]}`, "Data": `{"Data":{"EnvList":[` + row + `]}}`} {
			s, api := open(t)
			api.Play("DescribeEnvs", scene, fake.Answer(answer))
			got, _ := seen(t, s, "cloud", "envQuery", `{"action":"list"}`)
			if want := `{"EnvList":[{"EnvId":"a"}],"TotalCount":1,"_omitted"`; !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s: got %s", name, shape, got)
			}
		}
	}
}

func TestNothingButListsIsCut(t *testing.T) {
	rules, problems := project.Compile(append(Rules("cloud"), Rules("改名")...))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		tool, args string
		cut        bool
	}{
		{"cloud__envQuery", `{"action":"list"}`, true},
		{"改名__queryEnv", `{"action":"list"}`, true},
		{"改名__listEnvs", `{}`, true},
		{"cloud__envQuery", `{"action":"list","fields":null}`, true},
		{"cloud__envQuery", `{"action":"list","fields":["EnvId"]}`, false},
		{"cloud__listEnvs", `{"fields":["EnvId"]}`, false},
		{"cloud__envQuery", `{"action":"info"}`, false},
		{"cloud__envQuery", `{"action":"domains"}`, false},
		{"cloud__queryEnv", `{"action":"metrics"}`, false},
		{"cloud__envPick", `{}`, false},
		{"cloud__getEnvInfo", `{}`, false},
		{"other__envQuery", `{"action":"list"}`, false},
	} {
		if got := rules.Choose(tool.Name(c.tool), "default", []byte(c.args)).On != nil; got != c.cut {
			t.Errorf("%s %s: cut %t, want %t", c.tool, c.args, got, c.cut)
		}
	}
}

func TestErrorsAreNotCut(t *testing.T) {
	s, api := open(t)
	api.Play("DescribeEnvs", fake.Fail("InternalError", "a"), fake.Fail("InternalError", "b"))
	got, _ := seen(t, s, "cloud", "envQuery", `{"action":"list"}`)
	if !strings.HasPrefix(got, `{"error":{"code":"upstream_error","message":"DescribeEnvs: b (InternalError)"`) {
		t.Errorf("got %s", got)
	}
}

func TestFortyEnvironmentsCostATenth(t *testing.T) {
	s, _ := open(t)
	a := call(t, s, "envQuery", `{"action":"list"}`)
	_, text := seen(t, s, "cloud", "envQuery", `{"action":"list"}`)
	full, sent := tokens.Estimate(indent(t, a.Structured)), tokens.Estimate([]byte(text))
	if sent*10 > full {
		t.Errorf("%d tokens of %d", sent, full)
	}
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

func indent(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
