package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// useAll uses a store in every way that could depend on a session, from several sides at once.
func useAll(t *testing.T, s *Store) error {
	t.Helper()
	var all sync.WaitGroup
	errs := make(chan error, 100)
	for n := range 12 {
		all.Go(func() {
			ctx := context.Background()
			for i := range 5 {
				id := fmt.Sprintf("c_%02d%02d", n, i)
				srv := Server{ID: "a", Tools: []Tool{{Name: "t", Definition: []byte("{}")}}, ListedAt: time.Unix(1, 0)}
				srv.Held = []Held{{Kind: "tool", Name: "t"}}
				_, noServers := s.Servers(ctx)
				_, noCalls := s.Calls(ctx, CallFilter{Limit: 5, Agent: "x"})
				_, noSavings := s.Savings(ctx, ByDay, time.Time{})
				errs <- errors.Join(s.AppendCalls(ctx, []Call{{ID: id, At: time.Unix(int64(n), 0)}}), s.SaveTools(ctx, srv), noServers, noCalls,
					noSavings, s.Writable(ctx), s.SaveResult(ctx, Result{Ref: id, Owner: "o", At: time.Unix(1, 0), Body: []byte("{}")}))
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	calls, err := s.Calls(t.Context(), CallFilter{Limit: 1000})
	if len(calls) != 60 && err == nil {
		err = fmt.Errorf("%d calls of 60", len(calls))
	}
	return err
}

func TestPgBouncerInTransactionModeIsFoundOutAndUsed(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	for name, c := range map[string]struct{ setting, option string }{
		"it refuses settings": {"", ""},
		"it ignores settings": {"ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,plan_cache_mode", ""},
		"the address says so": {"", "&default_query_exec_mode=cache_describe"},
	} {
		t.Run(name, func(t *testing.T) {
			_, database, _ := strings.Cut(pg.Database(t), "/test_")
			database, _, _ = strings.Cut("test_"+database, "?")
			s, err := Open(t.Context(), pg.Bouncer(t, database, c.setting)+c.option, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if !s.pooled {
				t.Error("it is not known to be a pooler")
			}
			if err := useAll(t, s); err != nil {
				t.Error(fault.As(err).LogValue())
			}
			if err := s.dialect.reuse(t.Context(), s); err != nil {
				t.Error(err)
			}
			if n, err := s.TrimCalls(t.Context(), time.Unix(6, 0)); n != 30 || err != nil {
				t.Errorf("%d deleted, %v", n, err)
			}
		})
	}
}

func TestAnOptionThatPgBouncerRefusesIsSaid(t *testing.T) {
	_, err := Open(t.Context(), testparts.NeedPostgres(t).Bouncer(t, "postgres")+"&search_path=x", nil)
	if f := fault.As(err); f.Code != fault.BadConfig || !strings.Contains(err.Error(), "unsupported startup parameter: search_path") {
		t.Errorf("got %v", err)
	}
}

func TestFewConnectionsAreWaitedForAndRecordsKeepTheirs(t *testing.T) {
	pg := testparts.OwnPostgres(t)
	for _, statement := range []string{"CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 2", "CREATE DATABASE few OWNER few"} {
		if err := pg.Exec("postgres", statement); err != nil {
			t.Fatal(err)
		}
	}
	address := strings.Replace(pg.Address("few"), "toolfit:loopback-only", "few:few", 1)
	s, err := Open(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := useAll(t, s); err != nil {
		t.Error(fault.As(err).LogValue())
	}
	other, err := Open(t.Context(), address, nil)
	if err == nil {
		other.Close()
		t.Fatal("a second one has found room")
	}
	if f := fault.As(err); !strings.Contains(f.Message, "accepts no more connections") || f.Code != fault.StoreDown {
		t.Errorf("got %v", err)
	}
}
