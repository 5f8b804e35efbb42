package app

import (
	"context"
	"path/filepath"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/sinks"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// keepAudit seals the audit log and sends it to its sinks until ctx ends.
func (a *App) keepAudit(ctx context.Context) {
	if err := a.Store.SealAudit(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("the audit log is not sealed", "error", fault.As(err))
	}
	sinks.Run(ctx, a.started.Audit.Sinks, sinks.Options{Store: a.Store, Logger: a.log})
}

// noteFile notes in the audit log what the configuration file says, now that it is in force.
func (s *settings) noteFile(ctx context.Context, path, text string) {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	doc, err := config.Document(path, []byte(text))
	if err == nil {
		err = s.store.NoteConfig(store.As(ctx, store.Actor{Kind: "file", ID: path}), path, doc)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("the configuration is not in the audit log", "error", fault.As(err))
	}
}
