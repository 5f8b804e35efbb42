package cloudbase

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

const filtered = `{"Channels":["dcloud","iotenable","tem","scene_module"],"EnvTypes":["weda","baas"],"IsVisible":false}`

func TestListShapesAndFallbacks(t *testing.T) {
	rows := `[{"EnvId":"a","IsDefault":false,"Alias":null,"Big":9007199254740993},{"EnvId":"b"}]`
	both := `{"EnvList":` + rows + `,"TotalCount":2}`
	for _, c := range []struct {
		name   string
		scenes []fake.Scene
		want   string // "" for an error
		sent   int
	}{
		{"EnvList", []fake.Scene{fake.Answer(`{"EnvList":` + rows + `}`)}, both, 1},
		{"Data.EnvList", []fake.Scene{fake.Answer(`{"Data":{"EnvList":` + rows + `}}`)}, both, 1},
		{"EnvList null beside Data.EnvList", []fake.Scene{fake.Answer(`{"EnvList":null,"Data":{"EnvList":` + rows + `}}`)}, both, 1},
		{"an empty list", []fake.Scene{fake.Answer(`{"EnvList":[]}`)}, `{"EnvList":[],"TotalCount":0}`, 1},
		{"null", []fake.Scene{fake.Answer(`{"EnvList":null}`), fake.Answer(`{"EnvList":` + rows + `}`)}, both, 2},
		{"null, then an empty list", []fake.Scene{fake.Answer(`{"EnvList":null}`), fake.Answer(`{"EnvList":[]}`)},
			`{"EnvList":[],"TotalCount":0}`, 2},
		{"null, twice", []fake.Scene{fake.Answer(`{"EnvList":null}`), fake.Answer(`{"Data":{"EnvList":null}}`)}, `{"EnvList":null}`, 2},
		{"null in Data, then absent", []fake.Scene{fake.Answer(`{"Data":{"EnvList":null}}`), fake.Answer(`{}`)}, `{}`, 2},
		{"absent, then the other shape", []fake.Scene{fake.Answer(`{"RequestId":"r"}`), fake.Answer(`{"Data":{"EnvList":` + rows + `}}`)},
			both, 2},
		{"absent in Data, twice", []fake.Scene{fake.Answer(`{"Data":{}}`), fake.Answer(`{"Data":null}`)}, `{}`, 2},
		{"Data null, then an error", []fake.Scene{fake.Answer(`{"Data":null}`), fake.Fail("FailedOperation", "two")}, "", 2},
		{"a text", []fake.Scene{fake.Answer(`{"EnvList":"x"}`)}, `{"EnvList":"x"}`, 1},
		{"an object", []fake.Scene{fake.Answer(`{"EnvList":{"a":1.0}}`)}, `{"EnvList":{"a":1.0}}`, 1},
		{"a number in Data", []fake.Scene{fake.Answer(`{"EnvList":null,"Data":{"EnvList":7}}`)}, `{"EnvList":7}`, 1},
		{"an error, then no array", []fake.Scene{fake.Fail("InternalError", ""), fake.Answer(`{"EnvList":false}`)}, `{"EnvList":false}`, 2},
		{"Data a number, then null", []fake.Scene{fake.Answer(`{"Data":7}`), fake.Answer(`{"EnvList":null}`)}, `{"EnvList":null}`, 2},
		{"an error, then a list", []fake.Scene{fake.Fail("InternalError", ""), fake.Answer(`{"EnvList":` + rows + `}`)}, both, 2},
		{"garbage, then absent", []fake.Scene{fake.Raw(200, "", "x"), fake.Answer(`{}`)}, `{}`, 2},
		{"an error, twice", []fake.Scene{fake.Fail("InternalError", "one"), fake.Fail("FailedOperation", "two")}, "", 2},
		{"rows that are no objects stay", []fake.Scene{fake.Answer(`{"EnvList":[null,1,"x",[]]}`)},
			`{"EnvList":[null,1,"x",[]],"TotalCount":4}`, 1},
	} {
		for _, name := range []string{"envQuery", "queryEnv", "listEnvs"} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				s, api := open(t)
				api.Play("DescribeEnvs", c.scenes...)
				args := `{"action":"list"}`
				if name == "listEnvs" {
					args = `{}`
				}
				a := call(t, s, name, args)
				if c.want == "" {
					if f := errorOf(t, a); f.Code != fault.UpstreamError || !strings.Contains(f.Message, "two") {
						t.Errorf("got %+v", f)
					}
				} else if string(a.Structured) != c.want || a.IsError {
					t.Errorf("got %s, want %s", a.Structured, c.want)
				}
				sent := api.Requests()
				if len(sent) != c.sent || sent[0].Body != filtered || c.sent == 2 && sent[1].Body != `{}` {
					t.Errorf("sent %+v", sent)
				}
			})
		}
	}
}

func TestListFiltersAndPages(t *testing.T) {
	rows := `[{"EnvId":"a-1","Alias":"Shop·生产","Region":"ap-shanghai","X":1},{"EnvId":"a-2","Alias":"shop","Region":"ap-beijing","X":2},{"EnvId":"a-3","Alias":null,"X":3},{"EnvId":"a-4","Region":"ap-beijing","X":4}]`
	for _, c := range []struct{ name, args, want string }{
		{"alias in any case", `"alias":"SHOP"`, `"a-1,a-2" 2 {"alias":"SHOP"}`},
		{"Chinese", `"alias":"生产"`, `"a-1" 1 {"alias":"生产"}`},
		{"the whole alias", `"alias":"shop","aliasExact":true`, `"a-2" 1 {"alias":"shop","aliasExact":true}`},
		{"aliasExact off", `"alias":"hop","aliasExact":false`, `"a-1,a-2" 2 {"alias":"hop"}`},
		{"envId", `"envId":"a-3"`, `"a-3" 1 {"envId":"a-3"}`},
		{"envId is never a part", `"envId":"a-"`, `"" 0 {"envId":"a-"}`},
		{"region", `"region":"ap-beijing"`, `"a-2,a-4" 2 {"region":"ap-beijing"}`},
		{"all filters hold", `"region":"ap-beijing","alias":"shop"`, `"a-2" 1 {"alias":"shop","region":"ap-beijing"}`},
		{"the first page", `"limit":3`, `"a-1,a-2,a-3" 4 limit 3 offset 0 more true`},
		{"the last page", `"limit":3,"offset":3`, `"a-4" 4 limit 3 offset 3 more false`},
		{"after the end", `"limit":3,"offset":99`, `"" 4 limit 3 offset 99 more false`},
		{"an offset alone", `"offset":2.0`, `"a-3,a-4" 4 limit 0 offset 2 more false`},
		{"null is left out", `"alias":null,"limit":null`, `"a-1,a-2,a-3,a-4" 4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, api := open(t)
			api.Play("DescribeEnvs", fake.Answer(`{"EnvList":`+rows+`}`))
			if got := brief(t, call(t, s, "queryEnv", `{"action":"list",`+c.args+`}`)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// brief writes a page in a line.
func brief(t *testing.T, a answered) string {
	t.Helper()
	var p struct {
		EnvList        []map[string]any
		TotalCount     int
		Offset         *int
		Limit          int
		HasMore        bool
		AppliedFilters json.RawMessage
	}
	if err := json.Unmarshal(a.Structured, &p); err != nil || a.IsError {
		t.Fatalf("%v: %s", err, a.Structured)
	}
	var ids []string
	for _, row := range p.EnvList {
		ids = append(ids, fmt.Sprint(row["EnvId"]))
	}
	out := fmt.Sprintf("%q %d", strings.Join(ids, ","), p.TotalCount)
	if p.Offset != nil {
		out += fmt.Sprintf(" limit %d offset %d more %t", p.Limit, *p.Offset, p.HasMore)
	}
	return strings.TrimSpace(out + " " + string(p.AppliedFilters))
}

func TestFieldsGiveThoseOfEachRow(t *testing.T) {
	s, api := open(t)
	api.Play("DescribeEnvs", fake.Answer(`{"EnvList":[{"EnvId":"a","PackageId":null,"Databases":[{"Status":"R","Id":1}],"X":1},{"X":2}]}`))
	a := call(t, s, "queryEnv", `{"action":"list","fields":["EnvId","PackageId","Databases(Status)"]}`)
	const want = `{"EnvList":[{"EnvId":"a","PackageId":null,"Databases":[{"Status":"R"}]},{}],"TotalCount":2}`
	if string(a.Structured) != want {
		t.Errorf("got %s, want %s", a.Structured, want)
	}
}

func TestUnknownFieldsAreNamed(t *testing.T) {
	for _, c := range []struct{ name, rows, args, want string }{
		{"a name that no row has", `[{"EnvId":"a"},{"EnvId":"b","Tags":[{"Key":"k"}]}]`, `"fields":["EnvId","PackageID","Tags(Key,Vaule)"]`,
			`{"EnvList":[{"EnvId":"a"},{"EnvId":"b","Tags":[{"Key":"k"}]}],"TotalCount":2,"UnknownFields":["PackageID","Vaule"]}`},
		{"a row that is not shown has it", `[{"EnvId":"a"},{"EnvId":"b","X":1}]`, `"fields":["EnvId","X"],"limit":1`,
			`{"EnvList":[{"EnvId":"a"}],"TotalCount":2,"Limit":1,"Offset":0,"HasMore":true}`},
		{"no row at all", `[]`, `"fields":["X"]`, `{"EnvList":[],"TotalCount":0}`},
	} {
		s, api := open(t)
		api.Play("DescribeEnvs", fake.Answer(`{"EnvList":`+c.rows+`}`))
		if a := call(t, s, "queryEnv", `{"action":"list",`+c.args+`}`); string(a.Structured) != c.want {
			t.Errorf("%s: got %s, want %s", c.name, a.Structured, c.want)
		}
	}
}

func TestABoundServerShowsOnlyItsEnvironment(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"of many rows the bound one", `[{"EnvId":"a"},{"EnvId":"me"},{"EnvId":"b"}]`, `"me" 1 {"boundEnvId":"me"}`},
		{"of many others none", `[{"EnvId":"a"},{"EnvId":"b"}]`, `"" 0 {"boundEnvId":"me"}`},
		{"one row is not looked at", `[{"EnvId":"a"}]`, `"a" 1`},
		{"none", `[]`, `"" 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, api := open(t, "CLOUDBASE_ENV_ID=me")
			api.Play("DescribeEnvs", fake.Answer(`{"EnvList":`+c.rows+`}`), fake.Fail("InternalError", ""),
				fake.Answer(`{"Data":{"EnvList":`+c.rows+`}}`))
			for range 2 { // the second time after a fallback
				if got := brief(t, call(t, s, "envQuery", `{"action":"list"}`)); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

func FuzzFindList(f *testing.F) {
	f.Add(`{"EnvList":[{"EnvId":"a"}]}`)
	f.Add(`{"Data":{"EnvList":null},"EnvList":7}`)
	f.Add(`{"EnvList":[],"EnvList":null}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) || !strings.HasPrefix(raw, "{") {
			return
		}
		list := findList(json.RawMessage(raw))
		out, err := query{}.page(rowsOf(list), nil)
		if err != nil || !json.Valid(out) || list != nil && !json.Valid(list) {
			t.Errorf("%s gives %s and %s, %v", raw, list, out, err)
		}
	})
}
