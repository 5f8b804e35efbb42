//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// wrapper is a shell around a server, as many a start script is: the server itself and a
// helper that would live on are children of the shell. All three leave their ids in files.
// A shell gives what it starts beside itself no input, so the server's is passed by hand.
const wrapper = `exec 3<&0; echo $$ >"$PIDS/shell"; "$SERVER" <&3 & echo $! >"$PIDS/server"; sleep 1000 & echo $! >"$PIDS/helper"; wait`

// daemonized does the same, ignores every request to end, and has a daemon: started by a
// process that has ended, in a session of its own.
const daemonized = `trap '' TERM HUP; (setsid sh -c 'echo $$ >"$PIDS/daemon"; exec sleep 1000' &); ` + wrapper

// wrapped is a configuration with the server wrapped in the script, and the folder of the ids.
func wrapped(t *testing.T, script string) (path, pids string) {
	t.Helper()
	pids = t.TempDir()
	path = write(t, lines("mcpServers:",
		"  raw: "+entry([]string{"sh", "-c", script}, "PIDS", pids, "SERVER", os.Args[0], childEnv, "odd")))
	return path, pids
}

func pid(t *testing.T, folder, name string) int {
	t.Helper()
	var id int
	eventually(t, "the "+name+" has started", func() bool {
		data, err := os.ReadFile(filepath.Join(folder, name))
		id, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil && id > 0
	})
	return id
}

// gone tells whether a process has ended. One that only waits to be noticed by its parent has.
func gone(id int) bool {
	if syscall.Kill(id, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return false // a system without /proc
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return len(state) > 0 && state[0] == 'Z'
}

func checkAllGone(t *testing.T, pids string, which ...string) {
	t.Helper()
	for _, name := range which {
		id := pid(t, pids, name)
		eventually(t, "the "+name+" has ended", func() bool { return gone(id) })
	}
}

func TestNoProcessIsLeftWhenTheGatewayEnds(t *testing.T) {
	path, pids := wrapped(t, wrapper)
	r := run(t, path)
	callOdd(t, r.url)
	if id := pid(t, pids, "helper"); gone(id) {
		t.Fatal("the helper does not run: the test would prove nothing")
	}
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	if code := r.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.said)
	}
	// The gateway has waited for them: they are gone by now, not soon.
	for _, name := range []string{"shell", "server", "helper"} {
		if id := pid(t, pids, name); !gone(id) {
			t.Errorf("the %s still runs", name)
		}
	}
}

// TestServersEndWithAKilledGateway: whatever a server makes of the end of its input, and of signals.
func TestServersEndWithAKilledGateway(t *testing.T) {
	needsLinux(t)
	path, pids := wrapped(t, daemonized)
	r := run(t, path)
	callOdd(t, r.url)
	daemon := pid(t, pids, "daemon")
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	checkAllGone(t, pids, "shell", "server", "helper")
	eventually(t, "the daemon has ended", func() bool { return gone(daemon) })
}

func TestADaemonOfAServerEndsWithTheGateway(t *testing.T) {
	needsLinux(t)
	path, pids := wrapped(t, daemonized)
	r := run(t, path)
	callOdd(t, r.url)
	daemon := pid(t, pids, "daemon")
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	if !gone(daemon) {
		t.Error("the daemon still runs")
	}
	checkAllGone(t, pids, "shell", "server", "helper")
}

func needsLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets a process find its orphans")
	}
}

func TestNoProcessIsLeftWhenAServersShellIsKilled(t *testing.T) {
	path, pids := wrapped(t, wrapper)
	g := serve(t, path)
	callOdd(t, g.url)
	if err := syscall.Kill(pid(t, pids, "shell"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	checkAllGone(t, pids, "server", "helper")
	eventually(t, "the server is started again", func() bool {
		c, err := dialRaw(g.url+"/mcp", "")
		if err != nil {
			return false
		}
		result, err := c.request("tools/call", `{"name":"raw__odd","arguments":{}}`)
		return err == nil && strings.Contains(result, "hologram")
	})
}

func TestAGatewayWhoseFileBecameAPipeEndsWhenItIsAsked(t *testing.T) {
	path := write(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	r := run(t, path)
	if err := errors.Join(syscall.Mkfifo(path+".pipe", 0o600), os.Rename(path+".pipe", path), r.Process.Signal(syscall.SIGHUP)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pipe is refused", func() bool { return strings.Contains(r.said.String(), "not a regular file") })
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	if code := r.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.said)
	}
}

// callOdd calls the wrapped server, so that it runs.
func callOdd(t *testing.T, url string) {
	t.Helper()
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.request("tools/list", "{}"); err != nil {
		t.Fatal(err)
	}
	if result, err := c.request("tools/call", `{"name":"raw__odd","arguments":{}}`); err != nil || !strings.Contains(result, "hologram") {
		t.Fatalf("call: %v %s", err, result)
	}
}
