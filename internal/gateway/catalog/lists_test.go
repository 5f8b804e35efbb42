package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// shelf is a catalog with one server whose tools the test chooses.
func shelf(t *testing.T, profile config.Profile) (c *Catalog, put func(names []string, size int)) {
	var list upstream.Listing
	c, err := New(t.Context(), fakeLister{func(tool.ServerID) (upstream.Listing, error) { return list, nil }}, fakeKeeper{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	profile.Name = "p"
	profile.All = true
	other := profile
	other.Name = "other"
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Profiles: []config.Profile{profile, other}, Approve: "auto"})
	return c, func(names []string, size int) {
		list = upstream.Listing{TTL: -1}
		for _, name := range names {
			def, err := tool.ParseDefinition(definition(name, strings.Repeat("x", size)))
			if err != nil {
				t.Fatal(err)
			}
			list.Tools = append(list.Tools, def)
			list.Resources = append(list.Resources, json.RawMessage(`{"uri":"`+name+`"}`))
		}
		if err := c.Refresh(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
}

func numbered(from, to int) (names []string) {
	for i := from; i < to; i++ {
		names = append(names, fmt.Sprintf("tool_%d", i))
	}
	return names
}

// readPage reads one page of tools or resources.
func readPage(t *testing.T, c *Catalog, era mcp.Era, kind Kind, cursor string) (names []string, next string) {
	t.Helper()
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := v.Page(era, kind, cursor, nil)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tools      []struct{ Name string }
		Resources  []struct{ URI string }
		NextCursor string
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if len(raw) > pageBytes+pageBytes/10 {
		t.Errorf("a page of %d bytes", len(raw))
	}
	for _, one := range read.Tools {
		names = append(names, strings.TrimPrefix(one.Name, "s__"))
	}
	for _, one := range read.Resources {
		names = append(names, one.URI)
	}
	return names, read.NextCursor
}

func TestALongListHasPages(t *testing.T) {
	for name, test := range map[string]struct{ tools, size, pages int }{
		"none":                 {0, 1, 1},
		"as many as fit":       {1000, 1, 1},
		"one more":             {1001, 1, 2},
		"many":                 {2500, 1, 3},
		"few, but large":       {30, 100_000, 3},
		"each as large a page": {3, 900_000, 3},
	} {
		for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
			c, put := shelf(t, config.Profile{Names: "bare"})
			want := numbered(0, test.tools)
			put(want, test.size)
			var got []string
			cursor := ""
			pages := 0
			for first := true; first || cursor != ""; first = false {
				var names []string
				names, cursor = readPage(t, c, era, ToolKind, cursor)
				got = append(got, names...)
				pages++
			}
			slices.Sort(want)
			slices.Sort(got)
			if pages != test.pages || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d pages, %d tools", name, era, pages, len(got))
			}
		}
	}
}

func TestWhatStaysIsOnOnePageWhateverComesAndGoes(t *testing.T) {
	for _, kind := range []Kind{ToolKind, ResourceKind} {
		c, put := shelf(t, config.Profile{})
		stay := numbered(0, 3000)
		put(slices.Concat(numbered(5000, 6000), stay), 1)
		seen := map[string]int{}
		cursor := ""
		for round := 0; round == 0 || cursor != ""; round++ {
			var names []string
			names, cursor = readPage(t, c, mcp.Legacy, kind, cursor)
			for _, name := range names {
				seen[name]++
			}
			slices.Reverse(stay)
			put(slices.Concat(stay, numbered(7000+round, 7000+100*round)), 1)
		}
		for _, name := range stay {
			if seen[name] != 1 {
				t.Fatalf("%s %s was seen %d times", kind, name, seen[name])
			}
		}
		_, cursor = readPage(t, c, mcp.Legacy, kind, "")
		put(nil, 1) // nothing is left after the cursor
		if names, next := readPage(t, c, mcp.Legacy, kind, cursor); len(names) > 0 || next != "" {
			t.Errorf("%s: %d of an empty list, %s", kind, len(names), next)
		}
	}
}

func TestPagesAreWrittenOnce(t *testing.T) {
	for _, tools := range []int{10, 2500} {
		c, put := shelf(t, config.Profile{})
		put(numbered(0, tools), 1)
		v, _ := c.View("p")
		for round, cursor := 0, ""; round == 0 || cursor != ""; round++ {
			first, err := v.Page(mcp.Modern, ToolKind, cursor, nil)
			again, _ := v.Page(mcp.Modern, ToolKind, cursor, nil)
			if err != nil || &first[0] != &again[0] {
				t.Fatalf("page %d of %d tools is written for each request, %v", round, tools, err)
			}
			if behind := first[:len(first)+1]; behind[len(first)] != '}' {
				t.Errorf("page %d of %d tools has no brace behind it", round, tools)
			}
			_, cursor = readPage(t, c, mcp.Modern, ToolKind, cursor)
		}
	}
}

func TestOnlyCursorsOfTheListAreTaken(t *testing.T) {
	c, put := shelf(t, config.Profile{})
	put(numbered(0, 1500), 1)
	v, _ := c.View("p")
	other, _ := c.View("other")
	_, cursor := readPage(t, c, mcp.Legacy, ToolKind, "")
	if _, err := other.Page(mcp.Legacy, ToolKind, cursor, nil); err == nil {
		t.Error("a cursor of another profile was taken")
	}
	if _, err := v.Page(mcp.Legacy, ResourceKind, cursor, nil); err == nil {
		t.Error("a cursor of another list was taken")
	}
	for _, garbage := range []string{"5", " ", cursor[1:], cursor[:8], "=" + cursor, cursor + "=", strings.Repeat("A", 1<<20), "游标"} {
		if _, err := v.Page(mcp.Modern, ToolKind, garbage, nil); err == nil {
			t.Errorf("%.40q was taken for a cursor", garbage)
		}
	}
	even := func(e *Entry) bool { return strings.HasSuffix(e.Shown, "0") }
	raw, err := v.Page(mcp.Legacy, ToolKind, "", even)
	if n := strings.Count(string(raw), `"name"`); err != nil || n != 150 || strings.Contains(string(raw), "nextCursor") {
		t.Errorf("an agent with 150 tools gets %d, %v", n, err)
	}
}

func TestWhatManyServersListIsServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const servers = 200
		cfg := &config.Config{Detach: config.DetachOff, Profiles: []config.Profile{{Name: "p", All: true}}, Approve: "auto"}
		for i := range servers {
			cfg.Servers = append(cfg.Servers, config.Server{ID: tool.ServerID(fmt.Sprintf("s%d", i)), Refresh: time.Hour})
		}
		cfg.Servers = append(cfg.Servers, config.Server{ID: "hangs", Refresh: time.Hour})
		var served atomic.Int64
		lister := fakeLister{func(id tool.ServerID) (upstream.Listing, error) {
			if id == "hangs" {
				time.Sleep(time.Minute)
			}
			time.Sleep(20 * time.Millisecond)
			return listing("t"), nil
		}}
		c, err := New(t.Context(), lister, fakeKeeper{}, &Options{Changed: func(string, string) { served.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(cfg)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		for i := range servers {
			c.ServerReady(ctx, tool.ServerID(fmt.Sprintf("s%d", i)))
			v, _ := c.View("p")
			if !v.has(tool.ServerID(fmt.Sprintf("s%d", i))) {
				t.Fatalf("s%d is ready and not in the view", i)
			}
		}
		if n := served.Load(); n > 5 {
			t.Errorf("%d lists of %d servers, in less than two seconds", n, servers)
		}
		before := time.Now()
		c.Ready(ctx, "p")
		if v, _ := c.View("p"); len(v.Entries) != servers+1 || time.Since(before) > 2*time.Minute {
			t.Errorf("%d tools after %s", len(v.Entries), time.Since(before))
		}
		stop()
		<-done
	})
}
