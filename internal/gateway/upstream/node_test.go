//go:build unix

package upstream

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// TestAnOldNodeIsNamed starts servers with what Node.js of several versions said of code that
// it could not run.
func TestAnOldNodeIsNamed(t *testing.T) {
	t.Setenv("SOME_TOKEN", "x") // which nobody may be led to
	said, err := filepath.Glob("testdata/node/*.txt")
	if err != nil || len(said) < 4 {
		t.Fatal(said, err)
	}
	for _, file := range said {
		version := strings.TrimSuffix(filepath.Base(file), ".txt")
		text, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo v%s; exit; fi\ncat '%s' >&2\nexit 1\n", version, text)
		starts := "#!/bin/sh\nexec node \"$@\"\n" // as npx does
		for name, program := range map[string]string{"node": script, "npx": starts} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		want := "it runs on Node.js " + version + ", which is too old for it: install a newer Node.js"
		if strings.HasPrefix(version, "20.") {
			want = "its code does not run on Node.js " + version + ": it has a bug, or needs a newer version"
		}
		for _, command := range []string{filepath.Join(dir, "node"), filepath.Join(dir, "npx")} {
			env := map[string]string{"PATH": dir + ":" + os.Getenv("PATH")}
			p, _ := newPool(t, nil, config.Server{ID: "s", Command: command, Args: []string{"server.js"}, Env: env, Start: patience, Timeout: patience})
			_, err := p.List(t.Context(), "s")
			wantFault(t, err, fault.UpstreamDown, "Error: ", want)
			if strings.Contains(err.Error(), "SOME_TOKEN") {
				t.Errorf("%s: %v", version, err)
			}
		}
	}
}

func TestASyntaxErrorOfTheRealNodeIsAboutTheCode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js here")
	}
	path := filepath.Join(t.TempDir(), "server.js")
	if err := os.WriteFile(path, []byte("const a = ;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := newPool(t, nil, config.Server{ID: "s", Command: node, Args: []string{path}, Start: patience, Timeout: patience})
	_, err = p.List(t.Context(), "s")
	wantFault(t, err, fault.UpstreamDown, "SyntaxError", "Node.js ")
}

func TestOtherErrorsAreNotAboutNode(t *testing.T) {
	t.Setenv("SOME_TOKEN", "x")
	for _, script := range []string{
		`echo 'SyntaxError: invalid syntax' >&2; exit 1`, // Python's
		`printf 'Error: SOME_TOKEN is not set\n    at Object.<anonymous> (node:internal/modules/cjs/loader:1)\n' >&2; exit 1`,
	} {
		p, _ := newPool(t, nil, config.Server{ID: "s", Command: "sh", Args: []string{"-c", script}, Start: patience, Timeout: patience})
		_, err := p.List(t.Context(), "s")
		wantFault(t, err, fault.UpstreamDown, "SOME_TOKEN")
		if strings.Contains(err.Error(), "Node.js") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestAPathOfWindowsIsNamedWhereAServerEnds(t *testing.T) {
	p, _ := newPool(t, nil, config.Server{ID: "s", Command: "sh", Args: []string{"-c", "exit 1", `C:\x\server.js`}, Start: patience, Timeout: patience})
	_, err := p.List(t.Context(), "s")
	wantFault(t, err, fault.UpstreamDown, `C:\x\server.js is a path of Windows`)
}
