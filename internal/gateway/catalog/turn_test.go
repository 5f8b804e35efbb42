package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// TestGatewaysListAServerInTurnOncePerChange: all hear of each change, and none is told what another has stored.
func TestGatewaysListAServerInTurnOncePerChange(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var lists, tools atomic.Int32
	var turn sync.Mutex
	lister := fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		if turn.TryLock() {
			t.Error("it is listed out of turn")
		}
		lists.Add(1)
		var names []string
		for i := range tools.Load() {
			names = append(names, fmt.Sprint("tool", i))
		}
		time.Sleep(10 * time.Millisecond)
		l := listing(names...)
		l.TTL = -1
		return l, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var all []*Catalog
	for range 3 {
		c, err := New(ctx, lister, st, &Options{Own: ownTools, Turn: func(context.Context, tool.ServerID) (func(), bool) {
			return turn.Unlock, turn.TryLock()
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(&config.Config{Servers: []config.Server{{ID: "s", Refresh: time.Hour}}, Profiles: []config.Profile{{Name: "p", All: true}}})
		all = append(all, c)
	}
	tools.Store(1)
	for _, c := range all {
		running.Go(func() { c.Run(ctx) })
	}
	for n := int32(1); n < 4; n++ {
		late := time.Now().Add(30 * time.Second)
		for _, c := range all {
			for c.Servers()[0].Tools < int(n) && time.Now().Before(late) {
				time.Sleep(5 * time.Millisecond)
			}
			if got := c.Servers()[0].Tools; got != int(n) {
				t.Errorf("after change %d a gateway has %d tools", n, got)
			}
		}
		if got := lists.Load(); got != n {
			t.Errorf("after change %d it was listed %d times", n, got)
		}
		tools.Add(1)
		for _, c := range all {
			c.Changed("s")
		}
	}
}
