// Package meaning gets embeddings of texts from an OpenAI-compatible endpoint. Those of tools
// are requested in the background, once for each text; a search never waits for them. When the
// endpoint does not answer, searches work without. It never stores a vector on disk, and sends
// texts only to the configured address.
//
//	m := meaning.New(func() config.Embeddings { return cfg.Embeddings }, nil)
//	defer m.Close()
//	query.Vectors, query.Vector = m.Tools(texts), m.Query(ctx, query.Text)
package meaning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	maxVectors = 20_000           // cached vectors of tools
	maxQueries = 1000             // cached vectors of queries
	batch      = 64               // texts of one request
	wait       = 2 * time.Second  // timeout for the vector of a query
	patience   = time.Minute      // timeout for a batch of tools
	pause      = 30 * time.Second // before an endpoint that failed is tried again
)

// Model is an embedding model.
type Model struct {
	settings func() config.Embeddings
	opts     Options
	ctx      context.Context // of background work; ends with Close
	stop     context.CancelFunc
	work     sync.WaitGroup
	wait     time.Duration // the constant, except in tests

	mu      sync.Mutex
	of      config.Embeddings // the settings that the vectors were made with
	tools   map[[sha256.Size]byte][]float32
	queries map[string][]float32
	asking  bool      // a request for tools is running
	after   time.Time // no request before this
}

// Options change a Model. The zero value is usable.
type Options struct {
	HTTP   *http.Client     // nil: one of its own
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now
}

// New makes a Model with settings that may change. Without a URL it does nothing. Close ends it.
func New(settings func() config.Embeddings, opts *Options) *Model {
	m := &Model{settings: settings, wait: wait}
	if opts != nil {
		m.opts = *opts
	}
	m.opts.HTTP = cmp.Or(m.opts.HTTP, &http.Client{CheckRedirect: origin.Redirect})
	m.opts.Logger = cmp.Or(m.opts.Logger, slog.New(slog.DiscardHandler))
	if m.opts.Now == nil {
		m.opts.Now = time.Now
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.use(config.Embeddings{})
	return m
}

// Close cancels running requests. Afterwards no vector is known.
func (m *Model) Close() {
	m.mu.Lock()
	m.stop()
	m.mu.Unlock()
	m.work.Wait()
	m.opts.HTTP.CloseIdleConnections()
}

// use drops the vectors of other settings: they cannot be compared. The caller holds mu.
func (m *Model) use(s config.Embeddings) {
	if m.of != s || m.tools == nil {
		m.of = s
		m.tools = map[[sha256.Size]byte][]float32{}
		m.queries = map[string][]float32{}
		m.after = time.Time{}
	}
}

// Tools returns the vectors of the texts; nil while too many are missing. Missing ones are requested in the background.
func (m *Model) Tools(texts []catalog.Text) [][]float32 {
	s := m.settings()
	if s.URL == "" || len(texts) == 0 || len(texts) > maxVectors {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use(s)
	list := make([][]float32, len(texts))
	var missing []catalog.Text
	for i, t := range texts {
		list[i] = m.tools[t.Digest]
		if list[i] == nil {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 && !m.asking && m.ctx.Err() == nil && !m.opts.Now().Before(m.after) {
		m.asking = true
		m.work.Go(func() { m.learn(s, missing) })
	}
	if 10*len(missing) > len(texts) {
		return nil
	}
	return list
}

// learn requests the vectors of tools, in batches.
func (m *Model) learn(s config.Embeddings, missing []catalog.Text) {
	for len(missing) > 0 {
		some := missing[:min(batch, len(missing))]
		missing = missing[len(some):]
		texts := make([]string, len(some))
		for i, t := range some {
			texts[i] = t.Text
		}
		ctx, cancel := context.WithTimeout(m.ctx, patience)
		vectors, err := m.ask(ctx, s, texts)
		cancel()
		if !m.learned(s, some, vectors, err) {
			break
		}
	}
	m.mu.Lock()
	m.asking = false
	m.mu.Unlock()
}

// learned caches the answer to one request and tells whether to go on.
func (m *Model) learned(s config.Embeddings, texts []catalog.Text, vectors [][]float32, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of != s {
		return false // the settings have changed
	}
	if err != nil {
		m.failed(err)
		return false
	}
	if len(m.tools)+len(texts) > maxVectors {
		clear(m.tools) // some are of old lists; what is needed is requested again
	}
	for i, t := range texts {
		m.tools[t.Digest] = vectors[i]
	}
	return true
}

// failed pauses requests to the endpoint. The caller holds mu.
func (m *Model) failed(err error) {
	m.after = m.opts.Now().Add(pause)
	if m.ctx.Err() == nil {
		m.opts.Logger.Warn("searches do without meaning for a while", "error", err)
	}
}

// Query returns the vector of a query; nil if it takes longer than two seconds.
func (m *Model) Query(ctx context.Context, text string) []float32 {
	s := m.settings()
	if s.URL == "" {
		return nil
	}
	m.mu.Lock()
	m.use(s)
	v := m.queries[text]
	idle := len(m.tools) == 0 || m.opts.Now().Before(m.after)
	m.mu.Unlock()
	if v != nil || idle {
		return v
	}
	ctx, cancel := context.WithTimeout(ctx, m.wait)
	defer cancel()
	vectors, err := m.ask(ctx, s, []string{text})
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.of != s, errors.Is(err, context.Canceled): // the caller has left
		return nil
	case err != nil:
		m.failed(err)
		return nil
	}
	if len(m.queries) >= maxQueries {
		clear(m.queries)
	}
	m.queries[text] = vectors[0]
	return vectors[0]
}
