package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// maxSecrets bounds how many secrets of earlier configurations are remembered.
const maxSecrets = 4096

// secrets takes secrets out of text. It follows reloads without a lock for its readers, and
// it goes on to know the old ones: a call under way or a late line may still hold one.
type secrets struct {
	replace atomic.Pointer[func(string) string]

	mu  sync.Mutex
	all []string
}

func (s *secrets) add(more []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range more {
		s.all = slices.DeleteFunc(s.all, func(old string) bool { return old == secret })
		s.all = append(s.all, secret)
	}
	s.all = s.all[max(0, len(s.all)-max(maxSecrets, len(more))):]
	replace := redactor(s.all)
	s.replace.Store(&replace)
}

func (s *secrets) redact(text string) string { return (*s.replace.Load())(text) }

// redactor replaces every secret by stars. Longer ones go first, so that none is left in part.
func redactor(secrets []string) func(string) string {
	if len(secrets) == 0 {
		return func(s string) string { return s }
	}
	longestFirst := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range longestFirst {
		quoted, _ := json.Marshal(s) // a string always can
		written := rawjson.AppendString(nil, s)
		forms := []string{
			s, string(quoted[1 : len(quoted)-1]), string(written[1 : len(written)-1]), // in JSON too
			url.QueryEscape(s), url.PathEscape(s), // as it stands in a URL
		}
		if read, err := url.QueryUnescape(s); err == nil && len(read) > len(s)/2 {
			forms = append(forms, read) // as a server reads it from one
		}
		for _, form := range forms {
			pairs = append(pairs, form, "***")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// redactingHandler keeps secrets out of the log, whoever writes to it.
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
