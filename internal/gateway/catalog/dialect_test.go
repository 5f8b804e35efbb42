package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/schema"
)

// dialectView is a view of three tools, one of which no dialect can carry.
func dialectView(t *testing.T, dialect string) *View {
	t.Helper()
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0)}
	for _, raw := range []string{
		`{"inputSchema":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer","default":1}}},"name":"a","x-kept":1.0}`,
		`{"name":"b","inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.com/x.json"}}}}`,
		`{"name":"c","description":"no schema at all"}`,
	} {
		row.Tools = append(row.Tools, store.Tool{Definition: json.RawMessage(raw)})
	}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row}}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Approve: "auto", Profiles: []config.Profile{{Name: "p", All: true, Dialect: dialect}}})
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestListOfAProfileWithADialect(t *testing.T) {
	v := dialectView(t, "gemini-params")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
			Kept        json.RawMessage `json:"x-kept"`
		}
		Meta map[string]map[string]string `json:"_meta"`
	}
	if err := json.Unmarshal(v.List(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 2 || list.Tools[0].Name != "s__a" || list.Tools[1].Name != "s__c" {
		t.Fatalf("got %s", v.List())
	}
	for _, tl := range list.Tools {
		if bad := schema.Check(tl.InputSchema, schema.GeminiParams); len(bad) > 0 {
			t.Errorf("%s: %v", tl.Name, bad)
		}
	}
	if string(list.Tools[0].Kept) != "1.0" {
		t.Errorf("a member that no rule changes was changed: %s", v.List())
	}
	if why := list.Meta["toolfit/setAside"]["s__b"]; !strings.Contains(why, "external_ref") {
		t.Errorf("nothing says why s__b is missing: %v", list.Meta)
	}
	if _, err := v.Find("s__b"); err != nil {
		t.Errorf("what a dialect cannot carry can still be called by its own schema: %v", err)
	}
}

func TestListWithoutADialectIsWhatTheServersSaid(t *testing.T) {
	if v := dialectView(t, ""); !strings.Contains(string(v.List()), `{"$ref":"#/$defs/n"}`) || strings.Contains(string(v.List()), "setAside") {
		t.Errorf("got %s", v.List())
	}
}

func TestAnyDialectOfAView(t *testing.T) {
	v := dialectView(t, "")
	for d := range schema.Dialects() {
		f, err := v.For(d)
		if err != nil || len(f.Tools) != len(v.Entries) || f.Tool("s__a") == nil || f.Tool("s__a").Plan == nil {
			t.Errorf("%s: %+v, %v", d, f, err)
		}
		if again, _ := v.For(d); again != f {
			t.Errorf("%s was made twice", d)
		}
	}
	if _, err := v.For("nobody"); !fault.Is(err, fault.BadRequest) {
		t.Errorf("got %v", err)
	}
}
