//go:build unix

package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

// crowd is a configuration with many servers of ten tools each, and many profiles that see them.
func crowd(b *testing.B, servers, profiles int, settings string) *config.Config {
	var yaml strings.Builder
	yaml.WriteString("mcpServers:\n")
	for i := range servers {
		fmt.Fprintf(&yaml, "  server-%d: {url: 'http://127.0.0.1:1/%d'}\n", i, i)
	}
	if profiles > 0 {
		yaml.WriteString("profiles:\n")
	}
	for i := range profiles {
		fmt.Fprintf(&yaml, "  p%d: {dropEmpty: false, %s}\n", i, settings)
	}
	cfg, err := config.Parse("toolfit.yaml", []byte(yaml.String()), nil)
	if err != nil {
		b.Fatal(err)
	}
	return cfg
}

// tenTools is what a server of the crowd lists.
func tenTools(id tool.ServerID, version int64) upstream.Listing {
	l := upstream.Listing{TTL: -1, Info: json.RawMessage(`{"name":"x","version":"1"}`)}
	for i := range 10 {
		raw := fmt.Sprintf(`{"name":"tool_%d","description":"%s, version %d, of %s","inputSchema":{"type":"object","properties":{"id":{"type":"string"},`+
			`"limit":{"type":"integer"}},"required":["id"]}}`, i, strings.Repeat("what it does ", 10), version, id)
		def, err := tool.ParseDefinition(json.RawMessage(raw))
		if err != nil {
			panic(err)
		}
		l.Tools = append(l.Tools, def)
	}
	return l
}

func cpu() time.Duration {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

var crowds = []struct{ name, settings string }{
	{"defaults", ""}, {"auto", "search: auto"}, {"bare", "names: bare"}, {"dialect", "dialect: gemini"},
}

// BenchmarkFirstListing measures the CPU time until 1,000 servers are listed for the first time, in 10 profiles.
func BenchmarkFirstListing(b *testing.B) {
	for _, kind := range crowds {
		b.Run(kind.name, func(b *testing.B) {
			cfg := crowd(b, 1000, 10, kind.settings)
			before := cpu()
			for b.Loop() {
				lister := fakeLister{func(id tool.ServerID) (upstream.Listing, error) { return tenTools(id, 1), nil }}
				c, err := New(b.Context(), lister, fakeKeeper{}, &Options{Own: ownTools})
				if err != nil {
					b.Fatal(err)
				}
				c.Apply(cfg)
				ctx, stop := context.WithCancel(b.Context())
				done := make(chan struct{})
				go func() { c.Run(ctx); close(done) }()
				for i := range 10 {
					profile := fmt.Sprintf("p%d", i)
					c.Ready(ctx, profile)
					v, err := c.View(profile)
					if err != nil || len(v.Entries) < 10_000 {
						b.Fatalf("%v, %d tools", err, len(v.Entries))
					}
				}
				stop()
				<-done
			}
			b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkChange measures the CPU time of one server's new list among 1,000 servers, in 10 profiles.
func BenchmarkChange(b *testing.B) {
	for _, kind := range crowds {
		b.Run(kind.name, func(b *testing.B) {
			var version atomic.Int64
			lister := fakeLister{func(id tool.ServerID) (upstream.Listing, error) { return tenTools(id, version.Load()), nil }}
			c, err := New(b.Context(), lister, fakeKeeper{}, &Options{Own: ownTools})
			if err != nil {
				b.Fatal(err)
			}
			cfg := crowd(b, 1000, 10, kind.settings)
			cfg.Approve = "auto"
			none := *cfg
			none.Profiles = nil
			c.Apply(&none)
			for _, s := range cfg.Servers {
				if err := c.Refresh(b.Context(), s.ID); err != nil {
					b.Fatal(err)
				}
			}
			c.Apply(cfg)
			before := cpu()
			for b.Loop() {
				version.Add(1)
				if err := c.Refresh(b.Context(), "server-500"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkFinderAfterAChange measures the CPU time until 20,000 tools can be searched after one server's list has changed.
func BenchmarkFinderAfterAChange(b *testing.B) {
	var version atomic.Int64
	lister := fakeLister{func(id tool.ServerID) (upstream.Listing, error) { return tenTools(id, version.Load()), nil }}
	c, err := New(b.Context(), lister, fakeKeeper{}, &Options{Own: ownTools})
	if err != nil {
		b.Fatal(err)
	}
	cfg := crowd(b, 2000, 0, "")
	cfg.Approve = "auto"
	c.Apply(cfg)
	for _, s := range cfg.Servers {
		if err := c.read(b.Context(), s.ID); err != nil {
			b.Fatal(err)
		}
	}
	var used time.Duration
	find := func() {
		version.Add(1)
		if err := c.Refresh(b.Context(), "server-500"); err != nil {
			b.Fatal(err)
		}
		v, err := c.View("default")
		if err != nil {
			b.Fatal(err)
		}
		before := cpu()
		if f := v.Finder(); f.Index.Len() < 20_000 {
			b.Fatalf("%d tools", f.Index.Len())
		}
		used += cpu() - before
	}
	find()
	b.ReportMetric(float64(used.Microseconds())/1000, "first-cpu-ms")
	used = 0
	for b.Loop() {
		find()
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkFind measures the look-up of a call's tool among 10,000.
func BenchmarkFind(b *testing.B) {
	lister := fakeLister{func(id tool.ServerID) (upstream.Listing, error) { return tenTools(id, 1), nil }}
	c, err := New(b.Context(), lister, fakeKeeper{}, &Options{Own: ownTools})
	if err != nil {
		b.Fatal(err)
	}
	cfg := crowd(b, 1000, 0, "")
	c.Apply(cfg)
	for _, s := range cfg.Servers[:1000] {
		if err := c.read(b.Context(), s.ID); err != nil {
			b.Fatal(err)
		}
	}
	c.serve()
	v, err := c.View("default")
	if err != nil {
		b.Fatal(err)
	}
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("server-%d__tool_%d", i, i%10)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := v.Find(names[i%1000]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
