package store_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func testScriptRuns(t *testing.T, dsn string, raw rawFunc) {
	c := &clock{noon}
	key, err := store.ParseSecretKey("a key that is long enough")
	check(t, err)
	s := open(t, dsn, &store.Options{Now: c.now, SecretKey: key})
	ctx := t.Context()
	run := store.ScriptRun{
		ID: "c_1", Owner: "ann", Profile: "default", Tool: "run_script", Digest: "d", State: store.ScriptRunning, At: noon,
		Expires: noon.Add(time.Hour), Body: []byte(`{"code":"return 客户"}`),
	}
	check(t, s.SaveScriptRun(ctx, run))
	equal(t, fault.Is(s.SaveScriptRun(ctx, run), fault.Conflict), true) // somebody has
	run.Version = 1
	got, err := s.ScriptRun(ctx, "ann", "c_1")
	check(t, err)
	equal(t, got, run)
	claims := func(owner, profile, tool, digest string) bool {
		t.Helper()
		_, found, err := s.ClaimScriptRun(ctx, owner, profile, tool, digest)
		check(t, err)
		return found
	}
	equal(t, claims("ann", "default", "run_script", "d"), false) // it runs

	run.State = store.ScriptPaused
	run.Body = []byte(`{"log":[1]}`)
	check(t, s.SaveScriptRun(ctx, run))
	for _, other := range [][4]string{
		{"bob", "default", "run_script", "d"}, {"ann", "ops", "run_script", "d"}, {"ann", "default", "recipes__x", "d"},
		{"ann", "default", "run_script", "other"},
	} {
		equal(t, claims(other[0], other[1], other[2], other[3]), false)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, found, err := s.ClaimScriptRun(ctx, "ann", "default", "run_script", "d")
			if err != nil {
				t.Error(err)
			}
			if found {
				won.Add(1)
				if !bytes.Equal(got.Body, run.Body) || got.State != store.ScriptRunning {
					t.Errorf("%+v", got)
				}
			}
		})
	}
	all.Wait()
	equal(t, won.Load(), 1)

	_, err = s.ScriptRun(ctx, "bob", "c_1")
	equal(t, fault.Is(err, fault.NotFound), true)
	_, err = s.ScriptRun(ctx, "", "c_1")
	check(t, err)
	var stored []byte
	check(t, raw(t, dsn).QueryRow("SELECT body FROM script_runs").Scan(&stored))
	equal(t, bytes.Contains(stored, []byte("log")), false)

	c.at = noon.Add(2 * time.Hour)
	_, err = s.ScriptRun(ctx, "ann", "c_1")
	equal(t, fault.Is(err, fault.NotFound), true)
	n, err := s.TrimScriptRuns(ctx)
	check(t, err)
	equal(t, n, 1)
}
