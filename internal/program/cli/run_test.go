package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/clientfile"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// world is a folder, a home and an environment for commands.
type world struct {
	home string
	vars map[string]string
}

// newWorld makes an empty one and goes into its folder.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the system names it
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "work"))
	return &world{home: filepath.Join(dir, "home"), vars: map[string]string{}}
}

func (w *world) lookup(name string) (string, bool) {
	v, ok := w.vars[name]
	return v, ok
}

// run carries out a command and returns its exit code and what it printed.
func (w *world) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs safeBuffer
	code = w.runTo(t.Context(), &out, &errs, args...)
	return code, out.String(), errs.String()
}

// runWith is run with text on standard input.
func (w *world) runWith(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs safeBuffer
	code = Run(t.Context(), args, w.env(input, &out, &errs))
	return code, out.String(), errs.String()
}

func (w *world) runTo(ctx context.Context, out, errs *safeBuffer, args ...string) int {
	return Run(ctx, args, w.env("", out, errs))
}

func (w *world) env(input string, out, errs *safeBuffer) *Env {
	return &Env{
		In: strings.NewReader(input), Out: out, Err: errs, Lookup: w.lookup, Home: w.home, Program: "/opt/toolfit/toolfit", Version: "test",
	}
}

// put writes a file, with its folders.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// usual is the file of the client that install writes.
func (w *world) usual(t *testing.T, name string) string {
	t.Helper()
	one, err := clientNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return clientfile.FoldersOf(runtime.GOOS, w.home, w.lookup).Files(one)[0]
}

// safeBuffer can be read while a command writes to it.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
