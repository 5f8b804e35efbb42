package store_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestNothingIsAcknowledgedIntoAFileThatVanishedOrWasReplaced(t *testing.T) {
	cases := []struct {
		name     string
		do, undo func(t *testing.T, path string)
	}{
		{"moved away", func(t *testing.T, path string) { check(t, os.Rename(path, path+".away")) },
			func(t *testing.T, path string) { check(t, os.Rename(path+".away", path)) }},
		{"deleted", func(t *testing.T, path string) { check(t, os.Remove(path)) }, nil},
		{"replaced", func(t *testing.T, path string) {
			check(t, os.WriteFile(path+".new", nil, 0o600))
			check(t, os.Rename(path+".new", path))
		}, nil},
		{"without its journal", func(t *testing.T, path string) { check(t, os.Remove(path+"-wal")) }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "toolfit.db")
			ctx := t.Context()
			s, err := store.Open(ctx, path, &store.Options{Durable: true})
			check(t, err)
			defer s.Close() // what it says does not matter here
			check(t, s.AppendCalls(ctx, []store.Call{sampleCall(1)}))
			check(t, s.Writable(ctx))
			check(t, s.Intact())
			c.do(t, path)
			_, sessionErr := s.CreateSession(ctx, store.Session{ID: "s"})
			_, agentErr := s.SaveAgent(ctx, store.Document{ID: "a", Body: []byte("{}")})
			for what, err := range map[string]error{
				"calls": s.AppendCalls(ctx, []store.Call{sampleCall(2)}), "a check": s.SaveCheck(ctx, "x", noon, ""),
				"tools": s.SaveTools(ctx, sampleServer("a")), "a session": sessionErr, "an agent": agentErr,
				"Writable": s.Writable(ctx), "Intact": s.Intact(),
			} {
				f := fault.As(err)
				if !fault.Is(err, fault.StoreDown) || f.Hint == "" || !strings.Contains(f.Message, "vanished or was replaced") ||
					strings.Contains(f.Error(), path) {
					t.Errorf("%s: got %v, want a store_down that names no path", what, err)
				}
			}
			if c.undo == nil {
				return
			}
			c.undo(t, path)
			check(t, s.Writable(ctx))
			check(t, s.AppendCalls(ctx, []store.Call{sampleCall(2), sampleCall(3)}))
			for i := range 3 {
				_, err := s.Call(ctx, sampleCall(i+1).ID)
				check(t, err)
			}
		})
	}
}

func TestNoResultIsKeptInAFileThatVanished(t *testing.T) {
	for _, durable := range []bool{false, true} {
		dir := t.TempDir()
		ctx := t.Context()
		log := &bytes.Buffer{}
		path := filepath.Join(dir, "toolfit.db")
		s := open(t, path, &store.Options{Durable: durable, Logger: slog.New(slog.NewTextHandler(log, nil))})
		check(t, s.SaveResult(ctx, sampleResult(1)))
		check(t, os.Rename(path+"-results", path+"-away"))
		kept := 0
		for i := 2; !strings.Contains(log.String(), "vanished"); i++ { // at once when durable, else within a second
			if check(t, s.SaveResult(ctx, sampleResult(i))); durable && i > 2 {
				t.Fatal("a durable result was kept in a file that is gone")
			}
			kept = i
		}
		other := open(t, path, nil)
		r := sampleResult(kept)
		if _, err := other.Result(ctx, r.Owner, r.Ref); err != nil {
			t.Errorf("durable %v: the result that was kept after it was noticed: %v", durable, err)
		}
	}
}

func TestAStoreThatCannotGrowIsNotWritable(t *testing.T) {
	disk := testparts.SmallDisk(t, 4096)
	s := open(t, filepath.Join(disk.Dir, "toolfit.db"), nil)
	check(t, s.Writable(t.Context()))
	disk.Fill(t)
	err := s.Writable(t.Context())
	if f := fault.As(err); !fault.Is(err, fault.StoreDown) || f.Message != "the store cannot grow: its disk is full" || !f.Hides() {
		t.Errorf("got %v", err)
	}
	disk.Free(t)
	check(t, s.Writable(t.Context()))
	if left, _ := filepath.Glob(filepath.Join(disk.Dir, "*-room")); left != nil {
		t.Errorf("%q is left", left)
	}
}
