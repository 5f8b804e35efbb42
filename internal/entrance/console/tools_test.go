package console_test

import (
	"strings"
	"testing"
)

func TestASearchStaysWithinTheChosenServer(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	_, all := p.ask("GET", "/tools?q=orders+and+environments", nil)
	_, some := p.ask("GET", "/tools?q=orders+and+environments&server=cloud", nil)
	for _, c := range []struct {
		page, tool string
		want       bool
	}{{all, "shop__", true}, {all, "cloud__", true}, {some, "shop__", false}, {some, "cloud__", true}} {
		if strings.Contains(c.page, `href="/tools/`+c.tool) != c.want {
			t.Errorf("tools of %s: found is %v", c.tool, !c.want)
		}
	}
}

func TestAToolWhoseNameWasTooLongIsKnownByItsServersName(t *testing.T) {
	p := newWorld(t, "store: t.db\nmcpServers:\n  the-shop-of-the-whole-company-in-the-central-region-of-europe: {builtin: demo-shop}\n").person()
	_, list := p.ask("GET", "/tools", nil)
	if !strings.Contains(list, "<small>find_customers</small>") {
		t.Fatal("the list does not say which tool is find_customers")
	}
	before, _, _ := strings.Cut(list, "<small>find_customers</small>")
	name, _, _ := strings.Cut(before[strings.LastIndex(before, `href="/tools/`)+len(`href="/tools/`):], `"`)
	if _, one := p.ask("GET", "/tools/"+name, nil); !strings.Contains(one, `<span class="mono">find_customers</span>`) {
		t.Error("the page of the tool does not say what its server calls it")
	}
}
