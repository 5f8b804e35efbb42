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

// maxSecrets limits how many secrets of earlier configurations are remembered, and how many tokens.
const maxSecrets = 4096

// secrets redacts secrets in texts; readers need no lock. It remembers those of earlier
// configurations: a call in progress or a late log line may contain one.
type secrets struct {
	finder atomic.Pointer[secret.Finder]

	mu     sync.Mutex
	all    []string
	tokens []string // so many that they would drive out all others
}

// add redacts more secrets. Very short ones are ignored: they would garble every record.
func (s *secrets) add(more []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(&s.all, more)
}

// addTokens redacts tokens, of which new ones come all the time.
func (s *secrets) addTokens(more ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(&s.tokens, more)
}

// remember adds to a list. When it is a quarter too long the oldest are forgotten: that takes as long as to begin anew.
// The caller holds s.mu.
func (s *secrets) remember(list *[]string, more []string) {
	var fresh []string
	for _, added := range more {
		if len(added) < config.MinSecret {
			continue
		}
		before := len(*list)
		*list = slices.DeleteFunc(*list, func(old string) bool { return old == added })
		if len(*list) == before {
			fresh = append(fresh, added)
		}
		*list = append(*list, added)
	}
	finder := s.finder.Load()
	switch keep := max(maxSecrets, len(more)); {
	case finder == nil:
		finder = secret.NewFinder(fresh)
	case len(*list) > keep+keep/4:
		*list = slices.Clone((*list)[len(*list)-keep:])
		finder = secret.NewFinder(slices.Concat(s.all, s.tokens))
	case len(fresh) > 0:
		finder = finder.With(fresh)
	}
	s.finder.Store(finder)
}

// redact replaces every secret by stars.
func (s *secrets) redact(text string) string {
	if out, n := s.finder.Load().Redact([]byte(text), "***"); n > 0 {
		return string(out)
	}
	return text
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
