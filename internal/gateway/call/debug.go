package call

import (
	"context"
	"log/slog"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// debugs reports whether the steps of calls are logged. They never show arguments or results.
func (c *Caller) debugs(ctx context.Context) bool { return c.opts.Logger.Enabled(ctx, slog.LevelDebug) }

func (r *recording) logDecided(ctx context.Context, err error) {
	if !r.caller.debugs(ctx) {
		return
	}
	r.debug(ctx, "call resolved", err, "profile", r.call.Profile, "principal", r.call.Principal, "bytes", r.call.BytesIn)
}

func (r *recording) logSent(ctx context.Context, s *sent, out upstream.Outcome, err error) {
	if !r.caller.debugs(ctx) {
		return
	}
	r.debug(ctx, "call fitted and sent", err, "repairs", len(s.fitted.Repairs), "policy", r.call.Policy,
		"bytes", len(out.Raw), "duration", r.caller.opts.Now().Sub(r.call.At))
}

func (r *recording) logProjected(ctx context.Context, full, sent int) {
	if !r.caller.debugs(ctx) {
		return
	}
	r.debug(ctx, "result projected", nil, "rule", r.call.Rule, "ref", r.call.Ref, "full", full, "bytes", sent)
}

func (r *recording) debug(ctx context.Context, step string, err error, attrs ...any) {
	attrs = append([]any{"call", r.call.ID, "server", r.call.Server, "tool", r.call.Tool}, attrs...)
	if err != nil {
		attrs = append(attrs, "error", fault.As(err).Code)
	}
	r.caller.opts.Logger.DebugContext(ctx, step, attrs...)
}
