package columns_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/columns"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// list writes n rows, with the number of the row for each #.
func list(n int, row string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = strings.ReplaceAll(row, "#", fmt.Sprint(i+10))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

func TestWhatMayGo(t *testing.T) {
	const hash = `"9f86d081884c7d659a2feaa0c55ad015a3bf4f1#"`
	for name, c := range map[string]struct {
		value string
		want  map[string]columns.Class // 0: it stays
	}{
		"the same in every row": {list(6, `{"id":#,"kind":"a"}`), map[string]columns.Class{"kind": columns.Constant, "id": 0}},
		"of two rows nothing is the same by rule": {list(2, `{"id":#,"kind":"a"}`),
			map[string]columns.Class{"kind": 0}},
		"missing in one row": {`[{"id":1,"k":"a"},{"id":2,"k":"a"},{"id":3,"k":"a"},{"id":4}]`, map[string]columns.Class{"k": 0}},
		"without content":    {list(3, `{"id":#,"a":null,"b":"","c":[],"d":{}}`), map[string]columns.Class{"a": 2, "b": 2, "c": 2, "d": 2}},
		"URLs": {list(6, `{"id":#,"url":"https://api.x.io/t/#","html_url":"https://x.io/t/#","docs_url":"https://x.io/docs/#"}`),
			map[string]columns.Class{"url": columns.Link, "docs_url": columns.Link, "html_url": columns.Page}},
		"the URL that is all there is": {list(6, `{"title":"page # of it","url":"https://x.io/some-#-page","text":"about #"}`),
			map[string]columns.Class{"url": 0, "title": 0}},
		"the URL of what stands in a row": {list(6, `{"id":#,"user":{"login":"u#","avatar":"https://x.io/u#.png"}}`),
			map[string]columns.Class{"user/avatar": columns.Link, "user/login": 0}},
		"a second ID": {list(6, `{"id":#,"node_id":"I_kwDO5a8b3c7d9e#","etag":`+hash+`}`),
			map[string]columns.Class{"node_id": columns.Opaque, "etag": columns.Opaque, "id": 0}},
		"a hash that is all there is": {list(6, `{"sha":`+hash+`,"message":"m #"}`), map[string]columns.Class{"sha": 0}},
		"an ID by another name":       {list(6, `{"name":"n#","uuid":"3f2a9c1e-7b4d-4e8a-9c2f-1a5b7d3e9f#"}`), map[string]columns.Class{"uuid": 0}},
		"what leads to the next page": {`{"id":1,"self":"https://x.io/1","next":"https://x.io/2","cursor":"a1B2c3D4e5F6g7H8i9","items":` +
			list(4, `{"id":#}`) + `}`, map[string]columns.Class{"next": 0, "cursor": 0}},
		"an ID that leads elsewhere": {list(6, `{"id":#,"parent_id":"3f2a9c1e-7b4d-4e8a-9c2f-1a5b7d3e9f#"}`),
			map[string]columns.Class{"parent_id": 0}},
		"bulk in an object": {list(6, `{"id":#,"user":{"login":"u#","id":#9,"score":#8,"bio":"b #","rank":#1}}`),
			map[string]columns.Class{"user/login": 0, "user/score": columns.Nested, "user/bio": columns.Nested}},
		"measurements": {list(6, `{"id":#,"v":[`+strings.TrimSuffix(strings.Repeat("0.12345,", 60), ",")+`]}`),
			map[string]columns.Class{"v": columns.Opaque}},
		"what varies stays": {list(20, `{"at":"2025-01-#","cpu":#.5,"host":"h#"}`), map[string]columns.Class{"at": 0, "cpu": 0, "host": 0}},
		"a list by name": {`{` + strings.Trim(list(20, `"/p#":{"get":{"id":"op#","x":null}}`), "[]") + `}`,
			map[string]columns.Class{"*/get/x": columns.Empty, "*/get/id": 0}},
		"one object": {`{"id":1,"url":"https://x.io/1","ok":true,"text":"some"}`, map[string]columns.Class{"ok": 0, "text": 0, "id": 0}},
	} {
		if rawjson.Check([]byte(c.value)) != nil {
			t.Fatalf("%s: %s", name, c.value)
		}
		got := map[string]columns.Class{}
		last := columns.Class(0)
		for _, col := range columns.Read([]byte(c.value)).Columns {
			if col.Class < columns.Rest {
				got[strings.Join(col.Path, "/")] = col.Class
			}
			if col.Class < last {
				t.Errorf("%s: %v after class %d", name, col, last)
			}
			last = col.Class
		}
		for path, class := range c.want {
			if got[path] != class {
				t.Errorf("%s: %s is of class %d, want %d; all: %v", name, path, got[path], class, got)
			}
		}
	}
}

func TestTheNameIsLeft(t *testing.T) {
	value := []byte(list(6, `{"name":"n#","kind":"a#","in":[{"name":"m#","size":#}]}`))
	table := columns.Read(value)
	var tally mask.Tally
	out, err := mask.Without(table.Without(table.Until(columns.Rest)), false, 0).Apply(nil, value, &tally)
	if want := list(6, `{"name":"n#","in":[{"name":"m#"}]}`); err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestAnObjectOfWhichNothingIsLeftGoes(t *testing.T) {
	value := []byte(list(4, `{"id":#,"in":{"a":1,"b":{"c":null}},"on":{"a":2,"n":#}}`))
	table := columns.Read(value)
	var tally mask.Tally
	out, err := mask.Without(table.Without(table.Until(columns.Plain)), false, 0).Apply(nil, value, &tally)
	if want := list(4, `{"id":#,"on":{"n":#}}`); err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
}

// FuzzRead: whatever the value, dropping columns leaves valid JSON, and rows stay.
func FuzzRead(f *testing.F) {
	f.Add([]byte(list(5, `{"id":#,"a":null,"u":"https://x.io/#","in":{"b":true}}`)))
	f.Add([]byte(`{"*":{"a":1},"":[[{"":1}],{"":"\u0000*"}]}`))
	f.Add([]byte(`[1,"",[[]],{"a":[{"a":[{"a":{}}]}]}]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		value, err := mask.Compact(nil, src)
		if err != nil || rawjson.Check(value) != nil {
			return
		}
		table := columns.Read(value)
		for n := range len(table.Columns) + 1 {
			var tally mask.Tally
			out, err := mask.Without(table.Without(n), false, 0).Apply(nil, value, &tally)
			if err != nil || rawjson.Check(out) != nil || n == 0 && string(out) != string(value) {
				t.Fatalf("%s without %v: %s, %v", value, table.Without(n), out, err)
			}
			rows := rawjson.Array(value)
			left := rawjson.Array(out)
			for rows.Next() {
				if !left.Next() {
					t.Fatalf("%s lost a row: %s", value, out)
				}
			}
			tally.Fields()
		}
		table.Lists(1)
	})
}
