package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/sandbox"
)

// waiting is a script that waits for a call.
func waiting(t *testing.T, r *Runner, who string) *Pass {
	t.Helper()
	j := job(`return await shop.f()`)
	j.Who = who
	p, turn, err := r.Start(t.Context(), j)
	if err != nil || turn.Done {
		t.Fatalf("%+v, %v", turn, err)
	}
	return p
}

func TestAScriptThatIsCanceledEndsAtOnce(t *testing.T) {
	r := newRunner(t, Options{})
	for _, code := range []string{`for (;;);`, `Array.prototype.indexOf.call({ length: 1e12 }, 1)`} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel) // while it runs, mostly
		began := time.Now()
		if _, _, err := r.Start(ctx, job(code)); !fault.Is(err, fault.Canceled) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	}
	p := waiting(t, r, "me")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Answer(ctx, Answer{Seq: 1}); !fault.Is(err, fault.Canceled) {
		t.Errorf("an answer that is canceled: %v", err)
	}
}

func TestTheTimeInWhichAScriptWaitsDoesNotCount(t *testing.T) {
	r := newRunner(t, Options{Time: 700 * time.Millisecond})
	p := waiting(t, r, "me")
	time.Sleep(time.Second) // of real processes
	if turn, err := p.Answer(t.Context(), Answer{Seq: 1, Value: []byte("1")}); err != nil || string(turn.Result) != "1" {
		t.Errorf("%+v, %v", turn, err)
	}
	j := job(`for (;;) { const t = input; for (let n = 0; n < t; n++); await sleep(1) }`)
	j.Input = []byte("1000000") // some 30 ms: each turn is short, and together they are too long
	if _, err := play(t.Context(), r, j); err == nil || !strings.Contains(err.Error(), "longer than 700ms") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersThatNobodyWaitsFor(t *testing.T) {
	r := newRunner(t, Options{})
	p := waiting(t, r, "me")
	if _, err := p.Answer(t.Context(), Answer{Seq: 2}); err == nil {
		t.Error("call 2 was never begun")
	}
	if turn, err := p.Answer(t.Context(), Answer{Seq: 1}); err != nil || !turn.Done || turn.Result != nil {
		t.Errorf("%+v, %v", turn, err)
	}
	if _, err := p.Answer(t.Context(), Answer{Seq: 1}); err == nil {
		t.Error("call 1 had its answer")
	}
	p.Close()
	p.Close()
}

func TestOneCallerCannotTakeAllPlaces(t *testing.T) {
	r := newRunner(t, Options{Children: 2})
	waiting(t, r, "greedy")
	full, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := r.Start(full, Job{Who: "greedy", Code: "1"}); !fault.Is(err, fault.Canceled) {
		t.Errorf("a second script of one caller: %v", err)
	}
	p := waiting(t, r, "modest")
	p.Close()
	waiting(t, r, "modest").Close()
}

func TestAPlaceIsFreeWhenAScriptEnds(t *testing.T) {
	r := newRunner(t, Options{Children: 1, Time: time.Second})
	for _, code := range []string{`return 1`, `throw 1`, `let`, `for (;;);`, `return "x".repeat(1e9)`, `await shop.f()`} {
		play(t.Context(), r, job(code))
		if err := r.room.Take("me"); err != nil {
			t.Fatalf("after %s: %v", code, err)
		}
		r.room.Leave("me")
		if n := len(r.children); n != 0 {
			t.Errorf("after %s there are %d children", code, n)
		}
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	r := newRunner(t, Options{Warm: 2})
	p := waiting(t, r, "me")
	failed := make(chan error)
	go func() {
		_, _, err := r.Start(context.Background(), job(`for (;;);`))
		failed <- err
	}()
	for started := false; !started; runtime.Gosched() {
		r.mu.Lock()
		started = len(r.children)-len(r.warm)-r.starting >= 2
		r.mu.Unlock()
	}
	r.Close()
	if err := <-failed; !fault.Is(err, fault.Canceled) {
		t.Errorf("a script that ran: %v", err)
	}
	if _, err := p.Answer(t.Context(), Answer{Seq: 1}); !fault.Is(err, fault.Canceled) {
		t.Errorf("a script that waited: %v", err)
	}
	if _, _, err := r.Start(t.Context(), job("1")); !fault.Is(err, fault.Canceled) {
		t.Errorf("a new script: %v", err)
	}
}

func TestChildrenAreKeptWarmWhileScriptsRun(t *testing.T) {
	r := newRunner(t, Options{Warm: 2})
	if len(r.children) != 0 {
		t.Error("children are started before the first script")
	}
	play(t.Context(), r, job("1"))
	r.busy.Wait()
	if len(r.warm) != 2 {
		t.Fatalf("%d are warm", len(r.warm))
	}
	dead, next := r.warm[0], r.warm[1]
	dead.cmd.Process.Kill()
	<-dead.ended
	if p := waiting(t, r, "me"); p.child != next {
		t.Error("the second of those that are warm was not taken")
	}
	r.busy.Wait()
	if len(r.warm) != 2 {
		t.Errorf("%d are warm again", len(r.warm))
	}
	warm := r.warm
	r.coolDown()
	for _, c := range warm {
		<-c.ended
	}
	if len(r.warm) != 0 || len(r.children) != 1 {
		t.Errorf("%d are warm, %d in all", len(r.warm), len(r.children))
	}
}

func TestProgramsThatAreNoChild(t *testing.T) {
	path := func(script string) string {
		path := filepath.Join(t.TempDir(), "child")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	ready := `printf '\000\000\000\007"ready"'; `
	asked := ready + `head -c 20 >/dev/null; `
	for _, c := range []struct {
		name, exe string
		code      fault.Code
	}{
		{"that is not there", "/no/such/program", fault.Internal},
		{"that ends", path("exit 1"), fault.Internal},
		{"that says other", path("echo hello there"), fault.Internal},
		{"that ends then", path(ready + "exit 1"), fault.Internal},
		{"that says too much", path(asked + `printf '\377\377\377\377'; exec cat /dev/zero`), fault.TooLarge},
		{"that says no JSON", path(asked + `printf '\000\000\000\003abc'; exec sleep 60`), fault.Internal},
		{"that waits for none", path(asked + `printf '\000\000\000\002{}'; exec sleep 60`), fault.Internal},
		{"that invents calls", path(asked + `printf '\000\000\000\025{"calls":[{"seq":9}]}'; exec sleep 60`), fault.Internal},
		{"that has no memory", path(asked + `printf '\000\000\000\017"out of memory"'; exec sleep 60`), fault.TooLarge},
		{"that is killed", path(ready + `kill -9 $$`), fault.TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.exe, &Options{Warm: -1, Time: 5 * time.Second})
			defer r.Close()
			if _, _, err := r.Start(t.Context(), job("1")); !fault.Is(err, c.code) {
				t.Errorf("got %v (%v), want %s", err, errors.Unwrap(err), c.code)
			}
		})
	}
}

func TestAChildHasNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Setenv("SECRET", "value")
	p := waiting(t, newRunner(t, Options{}), "me")
	proc := fmt.Sprintf("/proc/%d/", p.child.cmd.Process.Pid)
	read := func(name string) string {
		text, err := os.ReadFile(proc + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if env := read("environ"); strings.Contains(env, "SECRET") || strings.Count(env, "\x00") > 4 {
		t.Errorf("its environment is %q", env)
	}
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		to, _ := os.Readlink(proc + "fd/" + f.Name())
		if ours, _ := os.Readlink("/proc/self/fd/" + f.Name()); to == ours { // whoever started the test left it open
			continue
		}
		if !strings.HasPrefix(to, "pipe:") && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
			t.Errorf("it has %s open", to)
		}
	}
	limits := strings.Join(strings.Fields(read("limits")), " ")
	for _, want := range []string{"Max core file size 0 0", "Max file size 0 0", "Max cpu time 6 6"} {
		if !strings.Contains(limits, want) {
			t.Errorf("no %q in %s", want, limits)
		}
	}
	if _, err := sandbox.Way(false); err != nil {
		t.Skip(err)
	}
	if status := read("status"); !strings.Contains(status, "NoNewPrivs:\t1") || !strings.Contains(status, "Seccomp:\t2") {
		t.Error("it is not confined")
	}
	theirs, _ := os.Readlink(proc + "ns/net")
	if ours, _ := os.Readlink("/proc/self/ns/net"); theirs == ours {
		t.Log("it shares our network namespace: sockets are refused by the filter")
	}
}

// doomedVariable makes the test binary such a gateway.
const doomedVariable = "SCRIPT_TEST_DOOMED"

// doomed is a gateway that is killed while scripts run.
func doomed() {
	exe, _ := os.Executable()
	r := New(exe, &Options{Warm: 1})
	p, _, err := r.Start(context.Background(), job(`await shop.f()`))
	if err != nil {
		panic(err)
	}
	r.busy.Wait()
	fmt.Println(p.child.cmd.Process.Pid, r.warm[0].cmd.Process.Pid)
	r.Start(context.Background(), job(`for (;;);`))
}

func TestChildrenEndWithTheirParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere they end when they next read")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), doomedVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	io.Copy(io.Discard, out)
	cmd.Wait()
	var pids [2]int
	fmt.Sscan(line, &pids[0], &pids[1])
	for _, pid := range pids {
		for deadline := time.Now().Add(10 * time.Second); running(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("child %d is still there", pid)
			}
		}
	}
}

// running reports whether there is such a process, and it is more than its number.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}
