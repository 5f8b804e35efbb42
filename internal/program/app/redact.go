package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/base/secret"
	"github.com/toolfit/toolfit/internal/state/config"
)

// maxSecrets limits how many secrets of earlier configurations are remembered.
const maxSecrets = 4096

// secrets redacts secrets in texts; readers need no lock. It remembers those of earlier
// configurations: a call in progress or a late log line may contain one.
type secrets struct {
	replace atomic.Pointer[func(string) string]

	mu  sync.Mutex
	all []string
}

// add redacts more secrets. Very short ones are ignored: they would garble every record.
func (s *secrets) add(more []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, added := range more {
		if len(added) < config.MinSecret {
			continue
		}
		s.all = slices.DeleteFunc(s.all, func(old string) bool { return old == added })
		s.all = append(s.all, added)
	}
	s.all = s.all[max(0, len(s.all)-max(maxSecrets, len(more))):]
	replace := redactor(slices.Clone(s.all))
	s.replace.Store(&replace)
}

func (s *secrets) redact(text string) string { return (*s.replace.Load())(text) }

// redactor replaces every secret by stars. It is prepared when the first text comes.
func redactor(secrets []string) func(string) string {
	finder := sync.OnceValue(func() *secret.Finder { return secret.NewFinder(secrets) })
	return func(text string) string {
		if out, n := finder().Redact([]byte(text), "***"); n > 0 {
			return string(out)
		}
		return text
	}
}

// redactingHandler keeps secrets out of the log.
type redactingHandler struct {
	slog.Handler
	redact func(string) string
}

func (h redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h redactingHandler) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.redact(v.String()))
	case slog.KindGroup:
		inner := slices.Clone(v.Group())
		for i := range inner {
			inner[i] = h.attr(inner[i])
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(inner...)}
	case slog.KindAny:
		return slog.String(a.Key, h.redact(v.String()))
	}
	return a
}

func (h redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactingHandler{h.Handler.WithAttrs(clean), h.redact}
}

func (h redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{h.Handler.WithGroup(name), h.redact}
}
