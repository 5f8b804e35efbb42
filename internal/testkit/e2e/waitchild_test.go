package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// gatewayEnv names the configuration of a gateway that is a child of the test: its calls are
// taken over sooner than the program's are.
const gatewayEnv = "E2E_GATEWAY"

// shortLease is how long the calls of such a gateway stay its own after it was killed.
const shortLease = time.Second

// childSecret is what its local administrator says over HTTP.
const childSecret = "tfl_0123456789abcdef0123456789abcdef0123456789abcdef"

// gatewayChild serves until it is killed.
func gatewayChild() error {
	cfg, err := config.Load(os.Getenv(gatewayEnv), os.LookupEnv)
	if err != nil {
		return err
	}
	a, err := app.New(context.Background(), cfg, &app.Options{Version: "test", Lease: shortLease, Program: os.Args[0], LocalSecret: childSecret})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "agents http://%s/mcp\n", l.Addr())
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // somebody wants to know what it holds
			for range 5 { // a stack shrinks by half each time
				debug.FreeOSMemory()
			}
			profile(lines.Text())
			fmt.Fprintln(os.Stderr, "collected")
		}
		os.Exit(0) // the test is over
	}()
	return a.Serve(context.Background(), l, nil)
}

// profile writes profiles where somebody wants them.
func profile(name string) {
	dir := os.Getenv("E2E_PROFILE")
	if dir == "" {
		return
	}
	for _, kind := range []string{"heap", "goroutine"} {
		f, err := os.Create(filepath.Join(dir, name+"."+kind))
		if err != nil {
			continue
		}
		pprof.Lookup(kind).WriteTo(f, 0)
		f.Close()
	}
}

// runChild starts a gateway of this test binary. It collects its garbage when it gets a line.
func runChild(t *testing.T, path string) (*running, io.Writer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=gateway", gatewayEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return runCommand(t, cmd), in
}

func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
}
