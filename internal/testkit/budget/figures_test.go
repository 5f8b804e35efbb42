package budget

import (
	"math"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// scenario is a request whose cost is counted.
type scenario struct {
	*client
	name    string
	request []byte
}

// scenarios are made by clients and for servers of the same era.
func (g *gateway) scenarios(t *testing.T) (all []scenario) {
	for _, era := range []string{legacy, modern} {
		c := g.dial(t, era, era)
		all = append(all,
			scenario{c, era + " list of 200", c.request("tools/list", "", "")},
			scenario{c, era + " echo", c.call(era+"__echo", `{"message":"hello"}`)},
			scenario{c, era + " 50 KB", c.call(era+"__big", "{}")},
			scenario{c, era + " 50 KB, cut", c.call(era+"__cut", "{}")})
	}
	return all
}

// wires are what goes over the wires to the client and to the server.
func (g *gateway) wires(t *testing.T) (all []figure) {
	for _, era := range []string{legacy, modern} {
		all = append(all, figure{name: era + " connect: requests to the server", now: int(g.servers[era].posts.Load())})
	}
	for _, s := range g.scenarios(t) {
		server := g.servers[s.era]
		server.weight.Store(0)
		server.weigh.Store(true)
		s.do(s.request)
		server.weigh.Store(false)
		all = append(all,
			figure{name: s.name + ": bytes to the client", now: s.got},
			figure{name: s.name + ": bytes to the server", now: int(server.weight.Load())})
		posts := server.posts.Load()
		s.repeat(s.request, 100)
		all = append(all, figure{name: s.name + ": requests to the server, of 100", now: int(server.posts.Load() - posts)})
	}
	return all
}

// allocations are what a request allocates. They differ by less than one allocation and half a percent of the bytes from run to
// run, also on a machine with ten times the work that it can do; the slack is a little more.
func (g *gateway) allocations(t *testing.T) (all []figure) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has pools of its own
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, s := range g.scenarios(t) {
		count, size := s.allocated()
		all = append(all, figure{s.name + ": allocations", count, 2}, figure{s.name + ": bytes allocated", size, size / 50})
	}
	return all
}

const (
	rounds  = 10
	warm    = 10
	counted = 50
)

// allocated is what the process allocates for one request. Whatever else the gateway does meanwhile only adds to it, so the
// round with the least is taken.
func (s scenario) allocated() (count, size int) {
	count, size = math.MaxInt, math.MaxInt
	for range rounds {
		runtime.GC()
		s.repeat(s.request, warm) // fills the pools that the collector has emptied
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.repeat(s.request, counted)
		runtime.ReadMemStats(&after)
		count = min(count, int(after.Mallocs-before.Mallocs)/counted)
		size = min(size, int(after.TotalAlloc-before.TotalAlloc)/counted)
	}
	return count, size
}

// tokens are what models read: the tools of the demo and of a real server, whole, as a search and as text; and results.
func (g *gateway) tokens(t *testing.T) (all []figure) {
	for _, catalog := range []string{"demo", "browser"} {
		c := g.dial(t, legacy, catalog)
		count := func(name, text string) {
			all = append(all, figure{name: catalog + " tools: tokens as " + name, now: tokens.Count(text)})
		}
		c.do(c.request("tools/list", "", ""))
		count("list", c.body.String())
		for _, format := range []string{"json", "ts", "sig", "md"} {
			c.do(c.prompt(format))
			count("prompt, "+format, c.body.String())
		}
		c = g.dial(t, legacy, catalog+"-search")
		c.do(c.request("tools/list", "", ""))
		count("search", c.body.String())
	}
	for _, r := range []struct{ profile, tool, args string }{
		{legacy, "legacy__big", `{}`},
		{legacy, "legacy__cut", `{}`},
		{"demo", "cloud__envQuery", `{"action":"list"}`}, // a rule for it is built in
		{"demo-search", "find_tools", `{"query":"orders of a customer"}`},
	} {
		c := g.dial(t, legacy, r.profile)
		c.do(c.call(r.tool, r.args))
		text := refs.ReplaceAllString(project.Text(rawjson.Get(c.body.Bytes(), "result")), "r_7f3kq2mp")
		all = append(all, figure{name: "result of " + r.tool + ": tokens", now: tokens.Count(text)})
	}
	return all
}

// refs are random: each has the tokens of the same one.
var refs = regexp.MustCompile(`\b[rc]_[a-z2-9]{6,}\b`)
