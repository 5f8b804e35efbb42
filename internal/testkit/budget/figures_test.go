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

// each does something for all requests. Clients and servers are of the same era.
func (g *gateway) each(t testing.TB, do func(scenario)) {
	for _, era := range []string{legacy, modern} {
		c := g.dial(t, era, era) // now: the gateway does not wait long for the first request
		do(scenario{c, era + " list of 200", c.request("tools/list", "", "")})
		do(scenario{c, era + " echo", c.call(era+"__echo", `{"message":"hello"}`)})
		do(scenario{c, era + " 50 KB", c.call(era+"__big", "{}")})
		do(scenario{c, era + " 50 KB, cut", c.call(era+"__cut", "{}")})
	}
}

// BenchmarkRequests is the same work, to be profiled: -cpuprofile has client, gateway and servers in one.
func BenchmarkRequests(b *testing.B) {
	newGateway(b).each(b, func(s scenario) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				s.do(s.request)
			}
		})
	})
}

// wires are what goes over the wires to the client and to the server.
func (g *gateway) wires(t *testing.T) (all []figure) {
	for _, era := range []string{legacy, modern} {
		all = append(all, figure{name: era + " connect: requests to the server", now: int(g.servers[era].asked.Load())})
	}
	g.each(t, func(s scenario) {
		server := g.servers[s.era]
		server.weight.Store(0)
		server.weigh.Store(true)
		s.do(s.request)
		server.weigh.Store(false)
		asked := server.asked.Load()
		all = append(all,
			figure{name: s.name + ": bytes to the client", now: s.got},
			figure{name: s.name + ": bytes to the server", now: int(server.weight.Load())})
		s.repeat(s.request, 100)
		all = append(all, figure{name: s.name + ": requests to the server, of 100", now: int(server.asked.Load() - asked)})
	})
	return all
}

// allocations are what a request allocates. They differ by less than one allocation and half a percent of the bytes from run to
// run, also on a machine with ten times the work that it can do; the slack is a little more.
func (g *gateway) allocations(t *testing.T) (all []figure) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has pools of its own
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	g.each(t, func(s scenario) {
		count, size := s.allocated()
		all = append(all, figure{s.name + ": allocations", count, 2}, figure{s.name + ": bytes allocated", size, size / 50})
	})
	return all
}

// allocated is what the process allocates for one request. Whatever else the gateway does meanwhile only adds to it, so the
// round with the least is taken. Rounds are short because records are written after 200 ms at the latest: each round is then
// one batch of them, even where a request takes twenty times as long as usual.
func (s scenario) allocated() (count, size int) {
	const rounds, requests = 50, 10
	count, size = math.MaxInt, math.MaxInt
	runtime.GC()
	s.repeat(s.request, 2*requests) // fills the pools that the collector has emptied
	for range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.repeat(s.request, requests)
		runtime.ReadMemStats(&after)
		count = min(count, int(after.Mallocs-before.Mallocs)/requests)
		size = min(size, int(after.TotalAlloc-before.TotalAlloc)/requests)
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
