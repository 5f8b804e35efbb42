// Package sinks sends the audit log to other systems: each record at least once, in order, and again until it is
// acknowledged. How far each sink has got is in the store, so that a restart, or another gateway on the same store, goes
// on from there. It never drops a record, and never sends one before the change that it describes is committed.
//
//	go sinks.Run(ctx, cfg.Audit.Sinks, sinks.Options{Store: st, Logger: log})
package sinks

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	batch    = 100         // records that are sent at once
	maxBytes = 1 << 20     // of their values: many receivers refuse longer messages, and would do so for ever
	maxWait  = time.Minute // between two attempts
	sendTime = 20 * time.Second
	lease    = time.Minute // longer than sending takes; so long a gateway that was killed while it sent keeps others waiting
)

// Log is the audit log, and how far its sinks have got.
type Log interface {
	AuditAfter(ctx context.Context, seq int64, limit int) ([]store.AuditRecord, error)
	LeaseSink(ctx context.Context, sink, gateway string, lease time.Duration) (position int64, ok bool, err error)
	SentTo(ctx context.Context, sink, gateway string, position int64) error
}

// Options are what Run needs.
type Options struct {
	Store  Log
	Logger *slog.Logger
	Poll   time.Duration // how often it is looked for new records, and the first wait after an error; 0: 2 s
}

// sink is where records go.
type sink struct {
	Options
	name     string                                           // in the store: the same on every gateway
	shown    string                                           // for the log: without secrets
	send     func(context.Context, []store.AuditRecord) error // returns nil once all are acknowledged
	gateway  string
	position int64 // the last record that was acknowledged when it was last looked; -1: not known
}

// Run sends records to all sinks until ctx ends.
func Run(ctx context.Context, all []config.Sink, opts Options) {
	opts.Poll = cmp.Or(opts.Poll, 2*time.Second)
	gateway := rand.Text()
	var running sync.WaitGroup
	for _, cfg := range all {
		s := &sink{Options: opts, gateway: gateway, position: -1, send: sender(cfg)}
		s.name = fmt.Sprintf("%s %x", cfg.Kind, sha256.Sum256([]byte(cfg.URL)))[:24]
		s.shown = string(cfg.Kind)
		if u, err := url.Parse(cfg.URL); err == nil {
			s.shown += " " + u.Scheme + "://" + u.Host
		}
		running.Go(func() { s.run(ctx) })
	}
	running.Wait()
}

func sender(cfg config.Sink) func(context.Context, []store.AuditRecord) error {
	switch cfg.Kind {
	case config.OTLPSink:
		return newPoster(cfg).otlp
	case config.WebhookSink:
		return newPoster(cfg).webhook
	}
	return newSyslog(cfg.URL).send
}

func (s *sink) run(ctx context.Context) {
	wait := s.Poll
	for {
		more, err := s.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = min(2*wait, maxWait)
			s.Logger.Error("audit records not sent, to be tried again", "sink", s.shown, "error", err, "in", wait)
		case more:
			wait = 0
		default:
			wait = s.Poll
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = max(wait, s.Poll)
	}
}

// step sends one batch, if there is something to send and no other gateway is sending. More says that there may be more.
func (s *sink) step(ctx context.Context) (more bool, err error) {
	if s.position >= 0 {
		if some, err := s.Store.AuditAfter(ctx, s.position, 1); err != nil || len(some) == 0 {
			return false, err
		}
	}
	position, ours, err := s.Store.LeaseSink(ctx, s.name, s.gateway, lease)
	if err != nil || !ours {
		return false, err
	}
	records, err := s.Store.AuditAfter(ctx, position, batch)
	records = together(records)
	if err == nil && len(records) > 0 {
		sending, cancel := context.WithTimeout(ctx, sendTime)
		err = s.send(sending, records)
		cancel()
		if err == nil {
			position = records[len(records)-1].Seq
		}
	}
	// Also when ctx has ended: what is acknowledged need not be sent again, and another gateway need not wait.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	if unsaved := s.Store.SentTo(ending, s.name, s.gateway, position); err == nil {
		err = unsaved
	}
	if err == nil {
		s.position = position
	}
	return len(records) > 0, err
}

// together returns the first records, as many as are sent at once and at least one.
func together(records []store.AuditRecord) []store.AuditRecord {
	size := 0
	for i, r := range records {
		if size += len(r.Before) + len(r.After); size > maxBytes && i > 0 {
			return records[:i]
		}
	}
	return records
}
