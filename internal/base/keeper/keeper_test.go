//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleVariable makes the test binary one of the programs that the tests start, and
// pidsVariable names the folder where each writes its process id, under its role.
const (
	roleVariable = "KEEPER_TEST_ROLE"
	pidsVariable = "KEEPER_TEST_PIDS"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	switch role {
	case "server", "server that ends": // leaves a daemon behind
		run(command("starter", os.Getenv(pidsVariable)))
	case "starter": // the daemon's parent, which does not stay
		if err := command("daemon", os.Getenv(pidsVariable)).Start(); err != nil {
			panic(err)
		}
		syscall.Exit(0)
	case "gateway":
		if _, err := Start(bare("server", os.Getenv(pidsVariable)), ""); err != nil {
			panic(err)
		}
	}
	if role == "scratch" {
		if dir, _, err := Scratch("keeper-test-"); err != nil || os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755) != nil || os.Symlink(dir,
			filepath.Join(os.Getenv(pidsVariable), "folder")) != nil {
			panic(err)
		}
	}
	path := filepath.Join(os.Getenv(pidsVariable), role)
	if err := errors.Join(os.WriteFile(path+".new", []byte(strconv.Itoa(os.Getpid())), 0o600), os.Rename(path+".new", path)); err != nil {
		panic(err)
	}
	if role == "server that ends" {
		readPid(os.Getenv(pidsVariable), "daemon")
		syscall.Exit(7)
	}
	time.Sleep(time.Hour)
}

func run(cmd *exec.Cmd) {
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

// command is the test binary in a role, in a session of its own.
func command(role, pids string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pidsVariable+"="+pids)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// bare is the test binary in a role, with nothing set that its keeper would get.
func bare(role, pids string) *exec.Cmd {
	cmd := command(role, pids)
	cmd.SysProcAttr = nil
	return cmd
}

// readPid waits until the process of a role runs.
func readPid(pids, role string) int {
	for {
		if text, err := os.ReadFile(filepath.Join(pids, role)); err == nil {
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				panic(err)
			}
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// waitGone waits for the end of a process that is about to die.
func waitGone(t *testing.T, what string, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("%s is still there", what)
		}
	}
}

func needsAdoption(t *testing.T) {
	t.Helper()
	if !adopts {
		t.Skip(runtime.GOOS + " does not give orphans to another process than the first")
	}
}

func TestADaemonOfAProgramThatEndsIsEnded(t *testing.T) {
	t.Parallel()
	needsAdoption(t)
	pids := t.TempDir()
	p, err := Start(bare("server that ends", pids), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || err.Error() != "exit status 7" {
		t.Errorf("got %v", err)
	}
	if pid := readPid(pids, "daemon"); alive(pid) {
		t.Errorf("process %d, which left group and session, is still there", pid)
	}
}

func TestADaemonOfAProgramThatIsKilledIsEnded(t *testing.T) {
	t.Parallel()
	needsAdoption(t)
	pids := t.TempDir()
	p, err := Start(bare("server", pids), "")
	if err != nil {
		t.Fatal(err)
	}
	server, daemon := readPid(pids, "server"), readPid(pids, "daemon")
	p.Terminate() // which they ignore
	p.Kill()
	if err := p.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("got %v", err)
	}
	if alive(server) || alive(daemon) {
		t.Errorf("alive: server %v, daemon %v", alive(server), alive(daemon))
	}
}

func TestProgramsOfAProcessThatWasKilledAreEnded(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	gateway := command("gateway", pids)
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	server, daemon := readPid(pids, "server"), readPid(pids, "daemon")
	gateway.Process.Kill()
	gateway.Wait()
	waitGone(t, "the server", server)
	if adopts {
		waitGone(t, "the daemon", daemon)
	}
	syscall.Kill(daemon, syscall.SIGKILL)
}

func TestTheTemporaryFolderOfAProgramThatWasKilledIsRemoved(t *testing.T) {
	t.Parallel()
	pids, temporary := t.TempDir(), filepath.Join(t.TempDir(), "temporary")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Start(bare("alone", pids), temporary)
	if err != nil {
		t.Fatal(err)
	}
	readPid(pids, "alone")
	if _, err := os.Stat(temporary); err != nil {
		t.Error(err)
	}
	p.Kill()
	p.Wait()
	if _, err := os.Stat(temporary); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAScratchFolderIsRemoved(t *testing.T) {
	t.Parallel()
	dir, remove, err := Scratch("keeper-test-")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAScratchFolderDoesNotOutliveAProcessThatWasKilled(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	owner := command("scratch", pids)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	readPid(pids, "scratch")
	dir, err := os.Readlink(filepath.Join(pids, "folder"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	owner.Process.Kill()
	owner.Wait()
	gone := func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) }
	for deadline := time.Now().Add(time.Minute); !gone(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

func TestAProgramEndsWithItsKeeper(t *testing.T) {
	t.Parallel()
	needsAdoption(t)
	pids := t.TempDir()
	p, err := Start(bare("alone", pids), "")
	if err != nil {
		t.Fatal(err)
	}
	pid := readPid(pids, "alone")
	p.keeper.Process.Kill()
	if err := p.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("got %v", err)
	}
	waitGone(t, "the program", pid)
}

func TestOtherChildrenAreLeftAlone(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	other := command("other", pids)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	readPid(pids, "other")
	p, err := Start(exec.Command("true"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if !alive(other.Process.Pid) {
		t.Error("a child that has nothing to do with the program is gone")
	}
	other.Process.Kill()
	if err := other.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("its end is told as %v", err)
	}
}

func TestTheProgramsOwnPipesCloseWithIt(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "read line; echo got $line; exec >&-; read more")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(cmd, "")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "this\n")
	if said, err := io.ReadAll(out); err != nil || string(said) != "got this\n" { // up to exec >&-, while it runs
		t.Errorf("got %q, %v", said, err)
	}
	in.Close()
	if err := p.Wait(); err == nil || err.Error() != "exit status 1" { // of read at the end of the input
		t.Errorf("got %v", err)
	}
}

func TestTheEndOfAProgramIsToldInTheWordsOfExec(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"exit 0", "exit 7", "kill -TERM $$", "kill -KILL $$"} {
		p, err := Start(exec.Command("sh", "-c", script), "")
		if err != nil {
			t.Fatal(err)
		}
		got, want := p.Wait(), exec.Command("sh", "-c", script).Run()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", script, got, want)
		}
	}
}

func TestAProgramThatCannotRunIsAStartError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("\x7fELF no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Start(exec.Command(path), "")
	if err != nil {
		t.Fatal(err)
	}
	var failed *StartError
	if err := p.Wait(); !errors.As(err, &failed) || failed.Reason != "exec format error" {
		t.Errorf("got %v", err)
	}
}
