package catalog

import (
	"context"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestEveryToolKnowsWhenItsCallsDetach(t *testing.T) {
	const (
		auto   = config.DetachAuto
		off    = config.DetachOff
		minute = config.Detach(time.Minute)
	)
	lister := fakeLister{func(tool.ServerID) (upstream.Listing, error) { return listing("a:1", "b:1"), nil }}
	c, err := New(context.Background(), lister, fakeKeeper{}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct { // each is a reload
		name                 string
		top, profile, server config.Detach
		overrides            []config.Override
		deny                 []string
		a, b                 config.Detach
		fetch                bool
	}{
		{name: "nothing is set", a: auto, b: auto, fetch: true},
		{name: "top level", top: minute, a: minute, b: minute, fetch: true},
		{name: "profile", top: minute, profile: off, a: off, b: off},
		{name: "server", top: off, profile: off, server: minute, a: minute, b: minute, fetch: true},
		{name: "tool", server: minute, overrides: []config.Override{{Tool: "s__a", Detach: off}}, a: off, b: minute, fetch: true},
		{name: "one tool alone", top: off, overrides: []config.Override{{Tool: "s__b", Detach: auto}}, a: off, b: auto, fetch: true},
		{name: "another profile's override", overrides: []config.Override{{Tool: "*", Profile: "q", Detach: off}}, a: auto, b: auto, fetch: true},
		{name: "an override of something else", server: off, overrides: []config.Override{{Tool: "*", Retry: 1}}, a: off, b: off},
		{name: "what nobody asked for can be collected", server: auto, deny: []string{"fetch_*"}, a: off, b: off},
		{name: "what somebody asked for stays", server: minute, deny: []string{"fetch_*"}, a: minute, b: minute},
	} {
		c.Apply(&config.Config{
			Detach: step.top, Overrides: step.overrides, Approve: "auto", ResultStore: "none",
			Servers:  []config.Server{{ID: "s", Detach: step.server}},
			Profiles: []config.Profile{{Name: "p", All: true, Detach: step.profile, Deny: step.deny, TextBudget: 100}},
		})
		if err := c.Refresh(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		v, err := c.View("p")
		if err != nil {
			t.Fatal(err)
		}
		a := v.Named("s__a").Detach
		b := v.Named("s__b").Detach
		fetch := v.Named("fetch_result")
		if a != step.a || b != step.b || (fetch != nil) != step.fetch || fetch != nil && fetch.Detach != 0 {
			t.Errorf("%s: a %s, b %s, %+v", step.name, a, b, fetch)
		}
		if v.Results.How.TextBudget != 0 {
			t.Errorf("%s: texts are cut, and nothing is stored", step.name)
		}
	}
}
