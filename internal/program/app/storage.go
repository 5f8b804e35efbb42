package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// checkInterval is how long an answer about the store is reused, so that probes cannot load it.
	checkInterval = time.Second
	checkTimeout  = 2 * time.Second
	// maxRuns is how many runs of browser tests are stored.
	maxRuns = 1000
	// deadReplicas is how long a gateway that was killed stays in the store.
	deadReplicas = time.Hour
)

// storage is the store with what reads and writes it: keys and the record of calls.
type storage struct {
	Store   *store.Store
	Keys    *access.Keys
	Records *record.Log

	log      *slog.Logger
	durable  bool
	draining atomic.Bool

	size   atomic.Int64 // of the store in bytes, when it was last measured
	oldest atomic.Int64 // when the oldest recorded call began, in Unix seconds; 0: there is none

	mu      sync.Mutex // guards what checkStore found
	checked time.Time
	problem error // why the store cannot be written; nil if it can
}

// openStorage opens the store. What sessions change is reported to changed.
func openStorage(ctx context.Context, s *settings, changed func(kind string, v store.Session)) (*storage, error) {
	key, err := SecretKey(s.env)
	if err != nil {
		return nil, err
	}
	durable := s.started.Records.Durable
	st, err := store.Open(ctx, s.started.Store, &store.Options{
		Durable: durable, SecretKey: key, Redact: s.secrets.redact, Logger: s.log, SessionChanged: changed,
	})
	if err != nil {
		return nil, err
	}
	if n, err := st.Reseal(ctx); err != nil {
		s.log.Error("not encrypted anew with the first secret key", "error", err)
	} else if n > 0 {
		s.log.Info("encrypted anew with the first secret key", "rows", n)
	}
	records := record.New(st, &record.Options{Durable: durable, Logger: s.log, Redact: s.secrets.redact})
	return &storage{Store: st, Keys: access.New(st, nil), Records: records, log: s.log, durable: durable}, nil
}

// close writes pending records and closes the store.
func (s *storage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.noteUses(ctx)
	if err := s.Records.Close(ctx); err != nil {
		s.Store.Close()
		return fmt.Errorf("close records: %w", err)
	}
	return s.Store.Close()
}

// noteUses stores when keys were used.
func (s *storage) noteUses(ctx context.Context) {
	late, err := s.Keys.WriteUses(ctx, s.Store)
	if len(late) > 0 {
		s.log.Warn("keys were used after they had expired, and refused", "keys", strings.Join(slices.Sorted(slices.Values(late)), " "))
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("when keys were used is not stored", "error", err)
	}
}

// trim sums calls, and deletes what is older or larger than the configuration allows.
func (s *storage) trim(ctx context.Context, cfg *config.Config) {
	since := time.Now().Add(-cfg.Records.Retain)
	results := store.ResultLimits{Owner: cfg.StoredResults.PerKey, Total: cfg.StoredResults.MaxSize}
	sessions := store.SessionLimits{Owner: cfg.Sessions.PerKey, Total: cfg.Sessions.MaxSize}
	var servers []tool.ServerID
	for i := range cfg.Servers {
		servers = append(servers, cfg.Servers[i].ID)
	}
	noSums := s.Store.SumCalls(ctx)
	noActivity := s.Store.TrimActivity(ctx, since)
	_, noCalls := s.Store.TrimCalls(ctx, since)
	_, noRecords := s.Store.TrimRecords(ctx, cfg.Records.MaxSize)
	_, noResults := s.Store.TrimResults(ctx, results)
	_, noRuns := s.Store.TrimRuns(ctx, since, maxRuns)
	_, noSessions := s.Store.TrimSessions(ctx, time.Now().Add(-cfg.Sessions.Retain), sessions)
	_, noReplicas := s.Store.TrimReplicas(ctx, deadReplicas)
	_, noWaiting := s.Store.TrimWaiting(ctx)
	_, noScripts := s.Store.TrimScriptRuns(ctx)
	_, noRates := s.Store.TrimRates(ctx)
	_, noLimits := s.Store.TrimLimits(ctx)
	_, noGrants := s.Store.TrimGrants(ctx)
	_, noConnections := s.Store.TrimConnections(ctx, servers)
	_, noAudit := s.Store.TrimAudit(ctx, time.Now().Add(-cfg.Audit.Keep))
	_, noApprovals := s.Store.TrimApprovals(ctx, since)
	err := errors.Join(noSums, noActivity, noAudit, noApprovals, noReplicas, noRates, noLimits, noGrants, noConnections, noWaiting, noCalls,
		noRecords, noResults, noRuns, noScripts, noSessions)
	if err != nil && ctx.Err() == nil {
		s.log.Error("calls not summed or old data not deleted", "error", err)
	}
}

// measure notes how large the store is, and how far back its records go.
func (s *storage) measure(ctx context.Context) {
	size, oldest, err := s.Store.Size(ctx)
	if err != nil {
		return // checkStore tells that the store does not work
	}
	s.size.Store(size)
	if oldest.IsZero() {
		s.oldest.Store(0)
		return
	}
	s.oldest.Store(oldest.Unix())
}

// ready answers probes: 503 with the reason while requests should go elsewhere. A store that
// cannot be written is such a reason only where calls must be recorded.
func (s *storage) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if s.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready: going down")
		return
	}
	err := s.checkStore(r.Context())
	if err == nil {
		fmt.Fprintln(w, "ready")
		return
	}
	reason := "the store cannot be written to" // the log has the rest
	if f := fault.As(err); f.Code != fault.Internal {
		reason = f.Message
	}
	if s.durable {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready:", reason)
		return
	}
	fmt.Fprintln(w, "degraded:", reason)
}

// checkStore tries whether the store can be written, at most once a second.
func (s *storage) checkStore(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.checked.IsZero() && time.Since(s.checked) < checkInterval {
		return s.problem
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	before := s.problem
	s.problem = s.Store.Writable(ctx)
	s.checked = time.Now()
	s.Records.ReportSink(s.problem)
	switch {
	case before == nil && s.problem != nil:
		s.log.Error("the store cannot be written to", "error", fault.As(s.problem))
	case before != nil && s.problem == nil:
		s.log.Info("the store can be written to again")
	}
	return s.problem
}
