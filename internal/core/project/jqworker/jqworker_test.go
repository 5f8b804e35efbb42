package jqworker_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project/jqworker"
)

// The test's own program is the worker as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == jqworker.Argument {
		syscall.Exit(jqworker.Main(os.Stdin, os.Stdout)) // os.Exit waits a second under the race detector
	}
	os.Exit(m.Run())
}

func newRunner(t *testing.T, opts *jqworker.Options) *jqworker.Runner {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("jq workers are for Linux")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return jqworker.New(exe, opts)
}

// patient is for what is not about time: the machine may be busy.
var patient = jqworker.Options{Time: 30 * time.Second}

func TestRun(t *testing.T) {
	r := newRunner(t, &patient)
	t.Setenv("SECRET", "value")
	for _, c := range []struct{ name, program, in, want string }{
		{"a value", ".items | length", `{"items":[1,2,3]}`, "3"},
		{"digits are kept", ".n", `{"n":9007199254740993}`, "9007199254740993"},
		{"the environment is empty", "env, $ENV", `1`, "[{},{}]"},
		{"a large value", "length", `"` + strings.Repeat("x", 1<<20) + `"`, "1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := r.Run(context.Background(), "me", c.program, []byte(c.in))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestBombsAreStopped(t *testing.T) {
	r := newRunner(t, &jqworker.Options{Time: 30 * time.Second, Memory: 64 << 20})
	for _, c := range []struct{ name, program string }{
		{"a string repeated", `"x"*1000000000 | length`},
		{"a far index", `null|setpath([50000000];1) | length`},
		{"doubling", `reduce range(40) as $i ("x"; . + .) | length`},
		{"an endless array", `[repeat("x" * 100000)] | length`},
		{"too much output", `"x" * 3000000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := r.Run(context.Background(), "me", c.program, []byte("1"))
			if !fault.Is(err, fault.TooLarge) {
				t.Errorf("got %.40s, %v; want %s", out, err, fault.TooLarge)
			}
		})
	}
}

// The default limit: the race detector's own memory is a child's too, and does not always
// fit into a small one.
func TestRefusals(t *testing.T) {
	r := newRunner(t, &patient)
	for _, c := range []struct{ name, program, reason string }{
		{"a wrong program", `.a |`, "jq"},
		{"a program that fails", `error("no")`, "no"},
		{"no output", `empty`, "no output"},
		{"halt", `halt`, "halt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := r.Run(context.Background(), "me", c.program, []byte("1"))
			if !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %.40s, %v; want %s with %q", out, err, fault.BadRequest, c.reason)
			}
		})
	}
	if _, err := r.Run(context.Background(), "me", ".", make([]byte, 9<<20)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a value over the limit: %v", err)
	}
}

func TestAnEndlessProgramIsKilled(t *testing.T) {
	r := newRunner(t, &jqworker.Options{Time: time.Second})
	if _, err := r.Run(context.Background(), "me", "def f: f; f", []byte("1")); !fault.Is(err, fault.TooLarge) ||
		!strings.Contains(err.Error(), "ran longer than 1s") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Run(ctx, "me", ".", []byte("1")); !fault.Is(err, fault.Canceled) {
		t.Errorf("canceled: got %v", err)
	}
}

func TestAMachineThatIsBusyIsNoFaultOfTheProgram(t *testing.T) {
	newRunner(t, nil) // skips where there are none
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	slow := filepath.Join(t.TempDir(), "slow") // to start takes longer than the program may work
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nsleep 2.2\nexec '"+exe+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := jqworker.New(slow, nil).Run(context.Background(), "me", ". + 1", []byte("1")); err != nil || string(got) != "2" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestManyAtOnceWaitForTheirTurn(t *testing.T) {
	r := newRunner(t, &jqworker.Options{Time: 30 * time.Second, Children: 1})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if got, err := r.Run(context.Background(), "me", ". + 1", []byte("1")); err != nil || string(got) != "2" {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestOneCallerCannotTakeAllWorkers(t *testing.T) {
	newRunner(t, nil) // skips where there are none
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hangs := filepath.Join(t.TempDir(), "hangs") // where the program is about hanging
	started := hangs + ".started"
	script := "#!/bin/sh\nread -r head\ncase $head in *hang*) echo >>" + started +
		"; exec sleep 600;; esac\n{ echo \"$head\"; cat; } | '" + exe + "' \"$@\"\n"
	if err := os.WriteFile(hangs, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := jqworker.New(hangs, &jqworker.Options{Time: time.Hour, Children: 3})
	ctx, leave := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer leave()
	for range 6 {
		wg.Go(func() { r.Run(ctx, "greedy", `"hang"`, []byte("1")) })
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(started); len(text) >= 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("none was started")
		}
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := r.Run(soon, "modest", ". + 1", []byte("1")); err != nil || string(got) != "2" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := jqworker.New("/no/such/program", nil).Run(context.Background(), "me", ".", []byte("1")); err == nil ||
		fault.Is(err, fault.TooLarge) {
		t.Errorf("got %v", err)
	}
}
