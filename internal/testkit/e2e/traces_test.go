//go:build unix

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// holds tells whether a file below the folder holds the text.
func holds(dir, text string) (found bool) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			found = found || bytes.Contains(data, []byte(text))
		}
		return nil // they come and go
	})
	return found
}

func TestARunThatIsCutOffLeavesNoUnmaskedRecording(t *testing.T) {
	pages := site(t)
	const secret = "hunter2hunter2"
	for name, signal := range map[string]os.Signal{"a second interrupt": os.Interrupt, "a kill": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			dir := testFolder(t)
			temp, err := os.MkdirTemp("", "traces-") // the browser's sockets allow no long name
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(temp) })
			text := "name: t\nsteps:\n  - open /login-en.html\n  - type \"${env:PW}\" into the Password field\n  - wait 300 seconds\n"
			if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program(t), "test", "t.yaml", "--trace", "--base-url", pages.URL)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PW="+secret, "TMPDIR="+temp,
				"PATH="+filepath.Dir(testparts.Need(t).Program())+string(os.PathListSeparator)+os.Getenv("PATH"))
			var out safeBuffer
			cmd.Stdout = &out
			cmd.Stderr = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { cmd.Wait(); close(ended) }()
			t.Cleanup(func() {
				cmd.Process.Kill()
				<-ended
				if t.Failed() {
					t.Log(out.String())
				}
			})
			kept := filepath.Join(dir, "trace")
			eventually(t, "what is typed is recorded", func() bool {
				recorded, err := filepath.Glob(filepath.Join(temp, "toolfit-test-*", "trace"))
				return err == nil && slices.ContainsFunc(append(recorded, kept), func(dir string) bool { return holds(dir, secret) })
			})
			for again := time.NewTicker(50 * time.Millisecond); ; {
				cmd.Process.Signal(signal)
				select {
				case <-ended:
				case <-again.C:
					continue
				}
				break
			}
			if holds(kept, secret) {
				t.Error("the recording that is kept holds the secret")
			}
			eventually(t, "nothing is left", func() bool {
				left, err := filepath.Glob(filepath.Join(temp, "toolfit-test-*"))
				return err == nil && len(left) == 0
			})
			if holds(kept, secret) {
				t.Error("the recording that is kept holds the secret")
			}
		})
	}
}
