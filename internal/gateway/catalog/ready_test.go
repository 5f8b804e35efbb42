package catalog

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestWhoWantsOneServerDoesNotWaitForAnother(t *testing.T) {
	hold := make(chan struct{})
	cat := newCatalog(t, "auto", func(id tool.ServerID) (upstream.Listing, error) {
		if id == "slow" {
			<-hold
		}
		return upstream.Listing{}, fault.New(fault.UpstreamDown, "down")
	}, nil)
	cat.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "slow"}, {ID: "s"}}, Profiles: []config.Profile{{Name: "p", All: true}}})
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { cat.Run(ctx) })
	long, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cat.ServerReady(long, "s")
	cat.ServerReady(long, "nobody")
	if long.Err() != nil {
		t.Error("not ready although the server was asked")
	}
	if s := cat.Servers()[1]; s.Reason == "" {
		t.Errorf("ready before it is known what came of it: %+v", s)
	}
	close(hold)
	stop()
	run.Wait()
}

func TestNobodyWaitsForeverForAServerThatIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cat := newCatalog(t, "auto", nil, nil) // it is not run, so that nobody asks its server
		begun := time.Now()
		view, err := cat.Listed(t.Context(), "p")
		if err != nil || len(view.Entries) != 0 || time.Since(begun) != firstList {
			t.Errorf("%+v, %v after %v", view, err, time.Since(begun))
		}
		begun = time.Now()
		if cat.ServerReady(t.Context(), "s"); time.Since(begun) != firstList {
			t.Errorf("ready after %v", time.Since(begun))
		}
	})
}
