package project_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

func parse(t testing.TB, src string) *mask.Mask {
	t.Helper()
	m, err := mask.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func jq(t testing.TB, src string) *project.Program {
	t.Helper()
	p, err := project.CompileJQ(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// text is a result with one text block.
func text(s string) string {
	return `{"content":[{"type":"text","text":` + string(rawjson.AppendString(nil, s)) + `}]}`
}

const (
	small  = `{"id":1,"name":"a","big":"xxxx","more":[1,2,3]}`
	noted  = `{"id":1,"name":"a","_omitted":{"fields":["more","big"],"ref":"r_abc","tokens":21}}`
	listed = `"_meta":{"toolfit/omitted":{"fields":[{"path":"more","bytes":14,"count":1},{"path":"big","bytes":12,"count":1}],` +
		`"ref":"r_abc","tokens":21}}`
)

func TestPlan(t *testing.T) {
	keep := project.How{Mask: parse(t, "id,name")}
	quoted := func(s string) string { return string(rawjson.AppendString(nil, s)) }
	cases := []struct {
		name    string
		how     project.How
		in      string
		want    string // "": the same bytes
		outcome project.Outcome
	}{
		{"text that is JSON", keep, text(small), `{"content":[{"type":"text","text":` + quoted(noted) + `}],` + listed + `}`,
			project.Projected},
		{"structuredContent and text alike", keep, `{"content":[{"type":"text","text":` + quoted(small) + `}],"structuredContent":` +
			small + `,"x":1.0}`,
			`{"content":[{"type":"text","text":` + quoted(noted) + `}],"structuredContent":` + noted + `,"x":1.0,` + listed + `}`,
			project.Projected},
		{"_meta of the server stays", keep, `{"_meta":{"a":1},"structuredContent":` + small + `}`,
			`{"_meta":{"a":1,` + listed[len(`"_meta":{`):len(listed)-1] + `},"structuredContent":` + noted + `}`, project.Projected},
		{"an empty _meta", keep, `{"_meta":{ },"structuredContent":` + small + `}`,
			`{"_meta":{ ` + listed[len(`"_meta":{`):len(listed)-1] + `},"structuredContent":` + noted + `}`, project.Projected},
		{"a fence around all of it", keep, text("```json\n" + small + "\n```"), `{"content":[{"type":"text","text":` + quoted(noted) +
			`}],` + listed + `}`, project.Projected},
		{"other blocks pass", keep, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":` +
			quoted(small) + `},{"type":"resource_link","uri":"x"},7]}`,
			`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":` + quoted(noted) +
				`},{"type":"resource_link","uri":"x"},7],` + listed + `}`, project.Projected},
		{"a root array is noted in a block of its own", keep, `{"structuredContent":[{"id":1,"x":2},{"id":3}],"content":[]}`,
			`{"structuredContent":[{"id":1},{"id":3}],"content":[{"type":"text","text":"{\"_omitted\":{\"fields\":[\"x\"],` +
				`\"ref\":\"r_abc\",\"tokens\":14}}"}],"_meta":{"toolfit/omitted":{"fields":[{"path":"x","bytes":5,"count":1}],` +
				`"ref":"r_abc","tokens":14}}}`, project.Projected},
		{"so is one without content", keep, `{"structuredContent":[{"id":1,"x":2}]}`,
			`{"structuredContent":[{"id":1}],"content":[{"type":"text","text":"{\"_omitted\":{\"fields\":[\"x\"],\"ref\":\"r_abc\",` +
				`\"tokens\":9}}"}],"_meta":{"toolfit/omitted":{"fields":[{"path":"x","bytes":5,"count":1}],"ref":"r_abc","tokens":9}}}`,
			project.Projected},
		{"a program makes a new value", project.How{JQ: jq(t, "{n: .id}")}, `{"structuredContent":` + small + `}`,
			`{"structuredContent":{"n":1,"_omitted":{"ref":"r_abc","tokens":21}},"_meta":{"toolfit/omitted":{"ref":"r_abc","tokens":21}}}`,
			project.Projected},
		{"shaping leaves nothing out", project.How{Shape: shape.JSON}, text("{ \"a\": 9007199254740993 }"), text(`{"a":9007199254740993}`),
			project.Projected},

		{"nothing to do", project.How{}, text(small), "", project.Whole},
		{"nothing is left out: white space stays too", project.How{Mask: parse(t, "*")}, text("{ \"a\": 1 }"), "", project.Whole},
		{"an error is never cut", project.How{Mask: parse(t, "id"), Budget: 1, Shape: shape.Auto},
			`{"isError":true,"content":[{"type":"text","text":` + quoted(small) + `}]}`, "", project.Whole},
		{"isError after content", keep, `{"content":[{"type":"text","text":` + quoted(small) + `}],"isError":true}`, "", project.Whole},
		{"what is not complete is never cut", keep, `{"resultType":"input_required","structuredContent":` + small + `}`, "", project.Whole},
		{"prose is never masked", keep, text("id: 1, see {id}"), "", project.Whole},
		{"JSON inside prose is never masked", keep, text("Result: " + small), "", project.Whole},
		{"an answer of another kind passes whole", keep, text(`{"ok":false,"code":"AUTH_REQUIRED"}`), "", project.Mismatch},
		{"no JSON after all", keep, text(`{"id":NaN}`), "", project.Failed},
		{"nested too deep", keep, text(`{"id":1,"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`), "",
			project.Failed},
		{"a program without output", project.How{JQ: jq(t, "empty")}, text(small), "", project.Failed},
		{"a program that fails", project.How{JQ: jq(t, ".a.b.c, error")}, text(small), "", project.Failed},
		{"no result at all", keep, `[]`, "", project.Failed},
		{"half a result", keep, `{"content":[`, "", project.Failed},
		{"a block for a person alone", keep, `{"content":[{"type":"text","text":` + quoted(small) +
			`,"annotations":{"audience":[ "user" ]}}]}`, "", project.Whole},
		{"of two texts in a block the last counts", keep, `{"content":[{"type":"text","text":` + quoted(`{"id":2,"x":1}`) + `,"text":` +
			quoted(small) + `}]}`,
			`{"content":[{"type":"text","text":` + quoted(`{"id":2,"x":1}`) + `,"text":` + quoted(noted) + `}],` + listed + `}`,
			project.Projected},
		{"of two texts in a block the last counts, if it is prose", keep, `{"content":[{"type":"text","text":` + quoted(small) +
			`,"text":"{prose}"}]}`, "", project.Failed},
		{"of two texts in a block the last counts, if it is a word", keep, `{"content":[{"type":"text","text":` + quoted(small) +
			`,"text":"word"},{"type":"text","text":` + quoted(small) + `}]}`,
			`{"content":[{"type":"text","text":` + quoted(small) + `,"text":"word"},{"type":"text","text":` + quoted(noted) + `}],` +
				listed + `}`, project.Projected},
		{"a text is cut as it was told, if a list follows under its name", keep, `{"content":[{"type":"text","text":` + quoted(small) +
			`,"text":[{}]}]}`,
			`{"content":[{"type":"text","text":` + quoted(noted) + `,"text":[{}]}],` + listed + `}`, project.Projected},
		{"a text with a budget that it is within", project.How{Mask: parse(t, "id,name"), Budget: 100}, text(small),
			`{"content":[{"type":"text","text":` + quoted(noted) + `}],` + listed + `}`, project.Projected},
		{"a text whose brackets are escapes", keep, `{"content":[{"type":"text","text":"\u007b` + strings.Trim(quoted(small[1:]), `"`) +
			`"}]}`,
			`{"content":[{"type":"text","text":` + quoted(noted) + `}],` + listed + `}`, project.Projected},
		{"a JSON string is no document", project.How{Mask: parse(t, "~2")}, text(`"abcdef"`), "", project.Whole},
		{"content that is no array", keep, `{"content":null,"_meta":null}`, "", project.Whole},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cut := project.Plan(context.Background(), []byte(c.in), c.how)
			got := string(cut.Apply("r_abc"))
			want := c.want
			if want == "" {
				want = c.in
			}
			if got != want || cut.Outcome != c.outcome {
				t.Errorf("%s, %v\ngot  %.600s\nwant %.600s", cut.Outcome, cut.Err, got, want)
			}
			if cut.Leaves() != strings.Contains(got, "_omitted") {
				t.Errorf("leaves: %v", cut.Leaves())
			}
		})
	}
}

func TestANoteDoesNotHideAMemberOfItsName(t *testing.T) {
	in := text(`{"id":1,"_omitted":"mine","x":2}`)
	got := string(project.Plan(context.Background(), []byte(in), project.How{Mask: parse(t, "id,_omitted")}).Apply("r_1"))
	if !strings.Contains(got, `{\"id\":1,\"_omitted\":\"mine\"}`) || strings.Count(got, "r_1") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestNoteWithoutARef(t *testing.T) {
	got := string(project.Plan(context.Background(), []byte(text(small)), project.How{Mask: parse(t, "id")}).Apply(""))
	if !strings.Contains(got, "_omitted") || strings.Contains(got, "ref") {
		t.Errorf("got %s", got)
	}
}

func TestUnseenNamesTheFieldsThatDoNotExist(t *testing.T) {
	cut := project.Plan(context.Background(), []byte(text(small)), project.How{Mask: parse(t, "id,nmae,more(x)")})
	if got := strings.Join(cut.Unseen, " "); got != "nmae x" {
		t.Errorf("got %s", got)
	}
}

// rows is JSON of n rows.
func rows(n int) string {
	var b strings.Builder
	b.WriteString(`{"total":` + fmt.Sprint(n) + `,"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"number %d","body":"some words about it, and 中文","tags":["a","b"]}`, i, i)
	}
	return b.String() + "]}"
}

func FuzzPlan(f *testing.F) {
	f.Add("id,name", []byte(text(small)), 20)
	f.Add("!**/a", []byte(`{"content":[{"type":"text","text":"[{\"a\":1},{\"b\":\"\\ud800\"}]"}],"structuredContent":[1,2,3],"_meta":{}}`),
		5)
	f.Add("[:1]", []byte(`{"structuredContent":["a","b"],"content":[{"type":"text","text":"lines\nof text\n\ud83d\ude00"}]}`), 1)
	f.Fuzz(func(t *testing.T, src string, raw []byte, budget int) {
		m, err := mask.Parse(src)
		if err != nil {
			return
		}
		for _, mode := range []shape.Mode{shape.Off, shape.Table} {
			cut := project.Plan(context.Background(), raw, project.How{Mask: m, Budget: budget, Shape: mode})
			out := cut.Apply("r_abcdef")
			if json.Valid(raw) != json.Valid(out) {
				t.Fatalf("%q became %q", raw, out)
			}
			if cut.Outcome == project.Whole && string(out) != string(raw) {
				t.Fatalf("whole, but %q became %q", raw, out)
			}
			if n := textTokens(out); cut.Outcome == project.Projected && budget >= 50 && n > budget {
				t.Fatalf("%d tokens in %d: %q became %q", n, budget, raw, out)
			}
			project.Body(raw)
		}
	})
}

// textTokens counts the tokens of the text blocks, or of structuredContent where there are none.
func textTokens(result []byte) (n int) {
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
	}
	if json.Unmarshal(result, &r) != nil {
		return 0
	}
	for _, block := range r.Content {
		if block.Type == "text" {
			n += tokens.Count(block.Text)
		}
	}
	if n == 0 {
		n = tokens.Count(string(r.StructuredContent))
	}
	return n
}

func TestMembersWithoutAValueGoOnlyWhenItPays(t *testing.T) {
	row := `{"id":1,"description":null,"labels":[],"assignee_name":"","milestone":{}}`
	many := "[" + strings.TrimSuffix(strings.Repeat(row+",", 20), ",") + "]"
	how := project.How{Filled: true}
	if got := project.Plan(context.Background(), []byte(text(row)), how); got.Leaves() {
		t.Errorf("a note costs more: %s", got.Apply("r_1"))
	}
	got := project.Plan(context.Background(), []byte(text(many)), how)
	if out := string(got.Apply("r_1")); !got.Leaves() || !strings.Contains(out, `[{\"id\":1},{\"id\":1},`) ||
		!strings.Contains(out, "r_1") {
		t.Errorf("got %.200s", out)
	}
}

func TestMasksAndRulesAreSharedByManyCalls(t *testing.T) {
	how := project.How{Mask: parse(t, "items(id,!**/x),total"), Budget: 200, Shape: shape.Auto}
	raw := []byte(text(rows(100)))
	want := string(project.Plan(context.Background(), raw, how).Apply("r_1"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if got := string(project.Plan(context.Background(), raw, how).Apply("r_1")); got != want {
					t.Errorf("got %.100s", got)
				}
			}
		})
	}
	wg.Wait()
}

// TestAListOfEnvironmentsCostsATenth: the list that this was made for, in exact tokens.
func TestAListOfEnvironmentsCostsATenth(t *testing.T) {
	type object = map[string]any
	var list []object
	for i := range 40 {
		list = append(list, object{
			"EnvId": fmt.Sprintf("env-%05d-3gk", i), "Alias": fmt.Sprintf("project-%d", i), "Status": "NORMAL", "EnvType": "baas",
			"Region": "ap-shanghai", "PackageName": "个人版", "IsDefault": i == 0,
			"Databases": []object{{"InstanceId": fmt.Sprintf("tnt-%09d", i*7919), "Status": "RUNNING", "Region": "ap-shanghai",
				"UpdateTime": "2024-05-06 07:08:09"}},
			"Storages": []object{{"Region": "ap-shanghai", "Bucket": fmt.Sprintf("656e-env-%05d-1254", i),
				"CdnDomain": fmt.Sprintf("656e-env-%05d.tcb.example.com", i), "AppId": "1254000000"}},
			"Functions": []object{{"Namespace": fmt.Sprintf("env-%05d", i), "Region": "ap-shanghai"}},
			"LogServices": []object{{"LogsetName": "tcb-logset", "LogsetId": fmt.Sprintf("%032x", i*104729), "TopicName": "tcb-topic",
				"TopicId": fmt.Sprintf("%032x", i*1299709), "Region": "ap-shanghai", "Period": 30}},
			"StaticStorages": []object{{"StaticDomain": fmt.Sprintf("env-%05d.tcloudbaseapp.example.com", i), "DefaultDirName": "/",
				"Status": "online", "Region": "ap-shanghai", "Bucket": fmt.Sprintf("static-env-%05d", i)}},
			"Tags": []object{}, "EnvPreferences": nil, "CreateTime": "2024-01-02 03:04:05", "UpdateTime": "2024-05-06 07:08:09",
			"Source": "miniapp", "PackageType": "personal", "PackageId": "baas_personal",
			"EnvStatus": "NORMAL", "IsAutoDegrade": false, "EnvChannel": "qc_console", "PayMode": "prepayment", "IsDauPackage": false,
			"CustomLogServices": []object{},
		})
	}
	pretty, err := json.MarshalIndent(map[string]any{"EnvList": list}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	how := project.How{Mask: parse(t, "EnvList(EnvId,Alias,Status,EnvType,Region,PackageName,IsDefault)")}
	out := project.Plan(context.Background(), []byte(text(string(pretty))), how).Apply("r_7f3kq2")
	w := rawjson.Array(rawjson.Get(out, "content"))
	w.Next()
	inner, _ := rawjson.String(rawjson.Get(w.Value, "text"))
	full := tokens.Count(string(pretty))
	if sent := tokens.Count(inner); sent*10 > full {
		t.Errorf("%d of %d tokens are sent", sent, full)
	}
}

func TestACallerMayAskForAPage(t *testing.T) {
	how := project.How{Mask: parse(t, "items(id)"), Offset: 3, Limit: 2}
	cut := project.Plan(context.Background(), []byte(`{"structuredContent":`+rows(10)+`}`), how)
	got := string(rawjson.Get(cut.Apply("r_1"), "structuredContent"))
	if !strings.HasPrefix(got, `{"items":[{"id":3},{"id":4}],"_omitted":{`) || !strings.Contains(got, `"rows":8`) || !cut.Leaves() {
		t.Errorf("got %s", got)
	}
	for _, how := range []project.How{{Offset: 99}, {Limit: 99}, {Limit: 3}} {
		out := project.Plan(context.Background(), []byte(text(rows(10))), how).Apply("r_1")
		if !json.Valid(out) {
			t.Errorf("%+v: %s", how, out)
		}
	}
}
