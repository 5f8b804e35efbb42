package meaning

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint stands for a model: the vector of a text is its length and how many a's it has.
type endpoint struct {
	*httptest.Server
	mu    sync.Mutex
	asked []int // texts of each request
	wrong string
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model string
		Input []string
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if json.NewDecoder(r.Body).Decode(&body) != nil || r.URL.Path != "/v1/embeddings" || body.Model != "small" || r.Header.Get("Authorization") != "Bearer k3y" {
		http.Error(w, "what is this?", http.StatusBadRequest)
		return
	}
	e.asked = append(e.asked, len(body.Input))
	if e.wrong != "" {
		fmt.Fprint(w, e.wrong)
		return
	}
	type element struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []element
	for i, text := range body.Input {
		data = append([]element{{i, []float32{float32(len(text)), float32(strings.Count(text, "a"))}}}, data...) // the order is the endpoint's
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (e *endpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

// model asks the endpoint, as long as a busy machine may take.
func (e *endpoint) model(opts *Options) *Model {
	m := New(e.settings, opts)
	m.wait = patience
	return m
}

func (e *endpoint) settings() config.Embeddings {
	return config.Embeddings{URL: e.URL + "/v1/", Model: "small", Key: "k3y"}
}

func texts(n int) (list []catalog.Text) {
	for i := range n {
		list = append(list, catalog.NewText(fmt.Sprint("tool ", strings.Repeat("a", i%7), i)))
	}
	return list
}

// known waits for the vectors of the texts, which come beside the asking.
func known(t *testing.T, m *Model, list []catalog.Text) [][]float32 {
	t.Helper()
	if got := m.Tools(list); got != nil {
		t.Fatal("vectors before anybody was asked")
	}
	m.work.Wait()
	got := m.Tools(list)
	m.work.Wait()
	return got
}

func TestToolsAreAskedForOnceBesideTheSearch(t *testing.T) {
	e := newEndpoint(t)
	m := e.model(nil)
	defer m.Close()
	if v := m.Query(t.Context(), "early"); v != nil || e.requests() != 0 {
		t.Errorf("a query without tools to compare with was asked for: %v", v)
	}
	list := texts(150)
	vectors := known(t, m, list)
	for i, v := range vectors {
		if len(v) != 2 || v[0] != float32(len(list[i].Text)) {
			t.Fatalf("%s: %v", list[i].Text, v)
		}
	}
	if len(vectors) != 150 || e.requests() != 3 {
		t.Errorf("%d vectors by %d requests", len(vectors), e.requests())
	}
	for range 3 {
		if v := m.Query(t.Context(), "aaa"); len(v) != 2 || v[1] != 3 {
			t.Errorf("query: %v", v)
		}
	}
	if e.requests() != 4 {
		t.Errorf("%d requests: a query was asked for twice", e.requests())
	}
}

func TestFewMissingToolsDoNotStopASearch(t *testing.T) {
	e := newEndpoint(t)
	m := e.model(nil)
	defer m.Close()
	known(t, m, texts(40))
	if got := m.Tools(texts(42)); len(got) != 42 || got[41] != nil || got[39] == nil {
		t.Errorf("got %d", len(got))
	}
	m.work.Wait()
	if got := m.Tools(texts(42)); got[41] == nil {
		t.Error("the new ones were not asked for")
	}
}

func TestAnEndpointThatDoesNotWorkIsLeftAlone(t *testing.T) {
	e := newEndpoint(t)
	e.wrong = "nonsense"
	now := time.Unix(1000, 0)
	m := e.model(&Options{Now: func() time.Time { return now }})
	defer m.Close()
	for range 5 {
		if known(t, m, texts(10)) != nil {
			t.Fatal("vectors out of nonsense")
		}
	}
	if e.requests() != 1 {
		t.Errorf("%d requests in the pause", e.requests())
	}
	now, e.wrong = now.Add(time.Minute), ""
	if known(t, m, texts(10)) == nil {
		t.Error("not asked again after the pause")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m.Query(ctx, "left") != nil || m.Query(t.Context(), "here") == nil {
		t.Error("a caller that left made the endpoint look broken")
	}
}

func TestOtherSettingsForgetTheVectors(t *testing.T) {
	e := newEndpoint(t)
	s := e.settings()
	m := New(func() config.Embeddings { return s }, nil)
	defer m.Close()
	known(t, m, texts(5))
	s.Model = "other" // which the endpoint does not have
	if known(t, m, texts(5)) != nil {
		t.Error("vectors of another model")
	}
	s = config.Embeddings{}
	if m.Tools(texts(5)) != nil || m.Query(t.Context(), "x") != nil {
		t.Error("vectors of no model")
	}
}

func TestNothingIsAskedAfterClose(t *testing.T) {
	e := newEndpoint(t)
	m := e.model(nil)
	m.Close()
	if m.Tools(texts(3)) != nil || e.requests() != 0 {
		t.Error("asked after Close")
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4e-5]}]}`), 2)
	f.Add([]byte(`{"data":[{"index":7,"embedding":[]}]}`), 1)
	f.Add([]byte(`{"data":null}`), 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = min(max(n, 0), 100)
		vectors, err := parse(data, n)
		if err != nil {
			return
		}
		for _, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				t.Fatalf("%d texts, got %v", n, vectors)
			}
		}
	})
}

func TestKeyAndTextsDoNotFollowARedirectToAnotherHost(t *testing.T) {
	other := newEndpoint(t)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/embeddings", http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	var log strings.Builder
	m := New(func() config.Embeddings {
		return config.Embeddings{URL: first.URL + "/v1?key=s3cret", Model: "small", Key: "k3y"}
	},
		&Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer m.Close()
	if got := known(t, m, texts(3)); got != nil || other.requests() != 0 {
		t.Errorf("got %v by %d requests", got, other.requests())
	}
	if !strings.Contains(log.String(), other.URL) || strings.Contains(log.String(), "s3cret") {
		t.Errorf("the log says %s", log.String())
	}
}
