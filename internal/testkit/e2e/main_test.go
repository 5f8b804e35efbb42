package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/core/script"
)

// childEnv in the environment makes the test binary a server instead.
const childEnv = "E2E_CHILD"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == script.Argument { // a gateway that is a child of the test runs a script
		syscall.Exit(script.Main(os.Stdin, os.Stdout)) // os.Exit waits a second under the race detector
	}
	if kind := os.Getenv(childEnv); kind != "" {
		child(kind)
		return
	}
	state, err := os.MkdirTemp("", "toolfit-e2e-state-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("XDG_STATE_HOME", state) // the local secret of whoever runs the tests is left alone
	code := m.Run()
	os.RemoveAll(state)
	if built != "" {
		os.RemoveAll(built)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// built is the folder of the program, once it is there.
var built string

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "toolfit-e2e-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "toolfit.exe") // one name for all systems
	cmd := exec.Command("go", "build", "-o", path, "github.com/toolfit/toolfit/cmd/toolfit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build toolfit: %w\n%s", err, out)
	}
	return path, nil
})

// program is the path of the built program.
func program(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
