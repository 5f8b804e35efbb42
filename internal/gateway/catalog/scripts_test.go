package catalog

import (
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestScriptsFindToolsAtTheirServerIfTheyCanNameIt(t *testing.T) {
	for _, c := range []struct {
		server         tool.ServerID
		override       string
		object, method string
	}{
		{"shop", "", "shop", "list-orders"},
		{"shop", "orders", "shop", "orders"},
		{"my-shop", "", "tools", "shown"},
		{"商店", "", "tools", "shown"},
		{"delete", "", "tools", "shown"},
		{"JSON", "", "tools", "shown"},
		{"search", "orders", "tools", "shown"},
		{"", "", "tools", "shown"},
	} {
		e := &Entry{Server: c.server, Shown: "shown", Definition: tool.Definition{Name: "list-orders"}, Own: c.server == ""}
		if c.override != "" {
			e.Override = &config.Override{Override: fit.Override{Name: c.override}}
		}
		if object, method := e.InScripts(); object != c.object || method != c.method {
			t.Errorf("%q: %s.%s", c.server, object, method)
		}
	}
}
