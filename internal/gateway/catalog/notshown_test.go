package catalog

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestEveryToolIsShownOrHasAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := w.view(t)
		missing := map[string]bool{}
		for _, n := range v.NotShown() {
			missing[string(n.Server)+" "+n.Tool] = true
		}
		for _, e := range v.Entries {
			if key := string(e.Server) + " " + e.Definition.Name; missing[key] {
				t.Fatalf("%s is shown and has a reason not to be", key)
			}
		}
		tools := 0
		for _, row := range w.rows {
			tools += len(row.Tools)
		}
		shown := 0
		for _, e := range v.Entries {
			if !e.Own {
				shown++
			}
		}
		if shown+len(missing) < tools-1 { // two names may have the same hash
			t.Fatalf("%d shown, %d with a reason, of %d", shown, len(missing), tools)
		}
	})
}

func TestTheReasonIsTheRealOne(t *testing.T) {
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0), Held: []store.Held{{Kind: "tool", Name: "new"}, {Kind: "tool", Name: "out", KeptOut: true}}}
	for _, name := range []string{"shown", "new", "out", "denied", "hidden"} {
		row.Tools = append(row.Tools, store.Tool{Definition: definition(name, "")})
	}
	row.Tools = append(row.Tools, store.Tool{Definition: json.RawMessage(`{"name":"task","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`)})
	cfg, err := config.Parse("toolfit.yaml", []byte("mcpServers: {s: {command: s}}\nprofiles: {default: {tools: {deny: [s__denied]}}}\noverrides: [{tool: s__hidden, hide: true}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row}}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(cfg)
	v, err := c.View("default")
	if err != nil {
		t.Fatal(err)
	}
	want := []NotShown{
		{"s", "new", NotApproved}, {"s", "out", KeptOut}, {"s", "denied", NotInProfile}, {"s", "hidden", Hidden},
	}
	if got := v.NotShown(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
