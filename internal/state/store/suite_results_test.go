package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

func sampleResult(i int) store.Result {
	at := noon.Add(time.Duration(i) * time.Millisecond)
	return store.Result{
		Ref: fmt.Sprintf("r_%06d", i), Owner: fmt.Sprint("k", i%2), Call: string(store.AppendCallTime(nil, at)) + "0n0de0n0",
		Server: "cloud", Tool: tool.Name(fmt.Sprint("cloud__t", i%3)), Profile: "default", Session: fmt.Sprint("ses_", i%5), Rule: "env-list",
		Args: json.RawMessage(`{"action":"list"}`), Body: json.RawMessage(fmt.Sprintf(`{"rows": [%d, 1e400]}`, i)), At: at,
	}
}

func refs(results []store.Result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Ref)
	}
	return out
}

func testResultBytes(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	bodies := []string{"", "{}", "not JSON", "\x00\xff\n", strings.Repeat("长", 1<<17)}
	for i, odd := range slices.Concat(oddTexts, bodies) {
		want := store.Result{
			Ref: fmt.Sprint("r", i), Owner: "o", Call: fmt.Sprint("c", i), Body: json.RawMessage(odd), At: noon,
			Expires: time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC(),
		}
		if len(odd) < 100 {
			want.Ref, want.Owner, want.Server, want.Tool = want.Ref+odd, want.Owner+odd, tool.ServerID(odd), tool.Name(odd)
			want.Profile = odd
			want.Session = odd
			want.Rule = odd
			want.Args = json.RawMessage(odd)
		}
		check(t, s.SaveResult(ctx, want))
		for _, s := range []*store.Store{s, open()} {
			got, err := s.Result(ctx, want.Owner, want.Ref)
			check(t, err)
			if !bytes.Equal(got.Body, want.Body) { // quicker than a comparison that shows the difference
				t.Fatalf("%d bytes came back of %d", len(got.Body), len(want.Body))
			}
			got.Body = want.Body[:0]
			was := want
			was.Body = got.Body
			equal(t, got, was)
		}
	}
	if err := s.SaveResult(ctx, store.Result{Owner: "o", At: noon}); err == nil {
		t.Fatal("a result without a ref was kept")
	}
}

func testResultUnknown(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	expired := sampleResult(1)
	theirs := sampleResult(2)
	expired.Owner = "me"
	expired.Expires = noon.Add(time.Hour)
	theirs.Owner = "them"
	check(t, s.SaveResult(ctx, expired))
	check(t, s.SaveResult(ctx, theirs))
	for _, ref := range []string{expired.Ref, theirs.Ref, "r_unknown", "", "r' OR ''='"} {
		_, err := s.Result(ctx, "me", ref)
		if !fault.Is(err, fault.NotFound) || fault.As(err).Message != fmt.Sprintf("there is no result %q", ref) {
			t.Fatalf("%q: got %v, want not found", ref, err)
		}
	}
	_, err := s.Result(ctx, "", theirs.Ref)
	if !fault.Is(err, fault.NotFound) {
		t.Fatalf("without an owner: got %v, want not found", err)
	}
	for _, name := range []string{expired.Ref, expired.Call, ""} {
		if _, err := s.FindResult(ctx, name); !fault.Is(err, fault.NotFound) {
			t.Fatalf("%q: got %v, want not found", name, err)
		}
	}
}

func testResultTaken(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	mine := sampleResult(1)
	theirs := sampleResult(3)
	theirs.Owner = "them"
	theirs.Ref = mine.Ref
	check(t, s.SaveResult(ctx, mine))
	check(t, s.SaveResult(ctx, theirs))
	for range 2 {
		again := mine
		again.Body = json.RawMessage(`"another"`)
		if err := s.SaveResult(ctx, again); !fault.Is(err, fault.Conflict) {
			t.Fatalf("got %v, want a conflict", err)
		}
	}
	for _, want := range []store.Result{mine, theirs} {
		got, err := s.Result(ctx, want.Owner, want.Ref)
		check(t, err)
		equal(t, got, want)
	}
}

func testFindResult(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	old := sampleResult(1)
	young := sampleResult(3)
	young.Owner = "them"
	young.Ref = old.Ref
	for _, r := range []store.Result{young, old} {
		check(t, s.SaveResult(ctx, r))
	}
	for name, want := range map[string]store.Result{old.Ref: young, old.Call: old, young.Call: young} {
		got, err := open().FindResult(ctx, name)
		check(t, err)
		equal(t, got, want)
	}
}

func testResultPages(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	const n = 60
	for i := range n {
		r := sampleResult(i)
		if i%4 == 1 {
			r.At = sampleResult(i - 1).At // two at the same moment
		}
		if i%7 == 0 {
			r.Rule = "other"
		}
		check(t, s.SaveResult(ctx, r))
	}
	cases := map[string]struct {
		filter store.ResultFilter
		match  func(i int) bool
	}{
		"all":                 {store.ResultFilter{}, func(int) bool { return true }},
		"of an owner":         {store.ResultFilter{Owner: "k1"}, func(i int) bool { return i%2 == 1 }},
		"of a tool":           {store.ResultFilter{Tool: "cloud__t2"}, func(i int) bool { return i%3 == 2 }},
		"of a session":        {store.ResultFilter{Session: "ses_4"}, func(i int) bool { return i%5 == 4 }},
		"of a rule":           {store.ResultFilter{Rule: "other"}, func(i int) bool { return i%7 == 0 }},
		"since a time":        {store.ResultFilter{Since: sampleResult(30).At}, func(i int) bool { return i >= 30 }},
		"of tool and session": {store.ResultFilter{Tool: "cloud__t0", Session: "ses_0"}, func(i int) bool { return i%15 == 0 }},
		"of nobody":           {store.ResultFilter{Owner: "k9"}, func(int) bool { return false }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			for i := range n {
				if c.match(i) {
					want = append(want, sampleResult(i).Ref)
				}
			}
			whole, err := s.Results(ctx, c.filter)
			check(t, err)
			if !slices.IsSortedFunc(whole, func(a, b store.Result) int { return b.At.Compare(a.At) }) {
				t.Fatalf("not the newest first: %v", refs(whole))
			}
			got := refs(whole)
			slices.Sort(got)
			equal(t, got, want)
			var paged []store.Result
			for c.filter.Limit = 7; ; c.filter.Before = paged[len(paged)-1].Cursor() {
				page, err := s.Results(ctx, c.filter)
				check(t, err)
				if len(page) == 0 {
					break
				}
				paged = append(paged, page...)
			}
			equal(t, refs(paged), refs(whole))
			c.filter.Heads = true
			c.filter.Limit = 0
			c.filter.Before = ""
			heads, err := s.Results(ctx, c.filter)
			check(t, err)
			equal(t, refs(heads), refs(whole))
			for i, h := range heads {
				if h.Args != nil || h.Body != nil || h.Err != nil || h.Size < int64(len(whole[i].Body)) || h.Tool != whole[i].Tool ||
					!h.At.Equal(whole[i].At) {
					t.Errorf("the head of %+v is %+v", whole[i], h)
				}
			}
		})
	}
	for _, wrong := range []string{"x", ".", "1", "1x.r"} {
		if _, err := s.Results(ctx, store.ResultFilter{Before: wrong}); !fault.Is(err, fault.BadRequest) {
			t.Errorf("before %q: got %v, want a bad request", wrong, err)
		}
	}
}

func testResultsAtOnce(t *testing.T, open func() *store.Store) {
	one := open()
	two := open()
	ctx := t.Context()
	var wg sync.WaitGroup
	const each = 60
	for w := range 4 {
		s := []*store.Store{one, two}[w%2]
		wg.Go(func() {
			for i := range each {
				r := sampleResult(i)
				r.Ref = fmt.Sprint(r.Ref, "_", w)
				if err := s.SaveResult(ctx, r); err != nil {
					t.Error(err)
				}
				for _, s := range []*store.Store{one, two} {
					if got, err := s.Result(ctx, r.Owner, r.Ref); err != nil || !bytes.Equal(got.Body, r.Body) {
						t.Errorf("read %s back: %v", r.Ref, err)
					}
				}
				if i%20 == 19 {
					if _, err := s.TrimResults(ctx, store.ResultLimits{Owner: 1 << 30, Total: 1 << 30}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []*store.Store{one, two} {
		all, err := s.Results(ctx, store.ResultFilter{Limit: 1000})
		check(t, err)
		equal(t, len(all), 4*each)
	}
}

// storedResults is all that is stored of results.
func storedResults(t *testing.T, dsn string, raw rawFunc) (all []byte) {
	t.Helper()
	if !strings.HasPrefix(dsn, "postgres") {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(dsn), "*-results", "*.seg"))
		check(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			check(t, err)
			all = append(all, text...)
		}
		return all
	}
	var args, body []byte
	row := raw(t, dsn).QueryRowContext(context.Background(), "SELECT args, body FROM results ORDER BY at LIMIT 1")
	if err := row.Scan(&args, &body); err != sql.ErrNoRows {
		check(t, err)
	}
	return append(args, body...)
}

func testEncryptedResults(t *testing.T, dsn string, raw rawFunc) {
	ctx := t.Context()
	secret := sampleResult(1)
	secret.Args = json.RawMessage(`{"token":"hunter2"}`)
	secret.Body = json.RawMessage(`{"password":"hunter3"}`)
	with := &store.Options{SecretKey: secretKey(t, "correct horse battery staple")}
	check(t, open(t, dsn, with).SaveResult(ctx, secret))
	stored := storedResults(t, dsn, raw)
	if len(stored) == 0 || bytes.Contains(stored, []byte("hunter")) {
		t.Fatalf("stored as %q", stored)
	}
	check(t, open(t, dsn, nil).SaveResult(ctx, sampleResult(3)))
	got, err := open(t, dsn, with).Results(ctx, store.ResultFilter{})
	check(t, err)
	equal(t, got, []store.Result{sampleResult(3), secret})
	for _, opts := range []*store.Options{nil, {SecretKey: secretKey(t, "another horse battery staple")}} {
		s := open(t, dsn, opts)
		if _, err := s.Result(ctx, secret.Owner, secret.Ref); !fault.Is(err, fault.BadConfig) {
			t.Fatalf("got %v, want a fault that speaks of the key", err)
		}
		got, err := s.Results(ctx, store.ResultFilter{})
		check(t, err)
		if len(got) != 2 || got[0].Err != nil || got[1].Err == nil || got[1].Body != nil || got[1].Args != nil {
			t.Fatalf("got %+v", got)
		}
	}
}
