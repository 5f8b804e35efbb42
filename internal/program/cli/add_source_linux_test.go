package cli

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const asking = `{"name": "io.github.acme/weather", "version": "1.0.2", "packages": [{"registryType": "npm", "identifier": "weather",
	"version": "1.0.2",
	"packageArguments": [{"type": "named", "name": "--units", "isRequired": true, "default": "metric"}],
	"environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}, {"name": "MODE", "isRequired": true,
		"choices": ["fast", "exact"]}]}]}`

// converse runs a command on a terminal, on which a person answers each prompt, and returns what was shown.
func converse(t *testing.T, w *world, args []string, answers map[string]string) (code int, shown string) {
	t.Helper()
	program, person := openTerminal(t, 200)
	done := make(chan string)
	go func() {
		var all strings.Builder
		buf := make([]byte, 1024)
		for asked := 0; ; {
			n, err := person.Read(buf)
			all.Write(buf[:n])
			for prompt, answer := range answers {
				if text := all.String(); err == nil && len(text) > asked && strings.HasSuffix(text, prompt) {
					asked = len(text)
					person.WriteString(answer + "\n")
				}
			}
			if text := all.String(); err != nil || strings.Contains(text, "THE END") {
				done <- text
				return
			}
		}
	}()
	code = Run(t.Context(), args, &Env{In: program, Out: program, Err: program, Lookup: w.lookup, Home: w.home, Version: "test"})
	program.WriteString("THE END")
	return code, <-done
}

func TestOnATerminalAddAsksForWhatIsRequired(t *testing.T) {
	w := newWorld(t)
	put(t, "server.json", asking)
	code, shown := converse(t, w, []string{"add", "server.json"}, map[string]string{
		"variable KEY): ": "hush-4711", "(fast, exact): ": "exact", "[metric]: ": "", "add it as weather? [y/N] ": "y",
	})
	if code != 0 || strings.Contains(shown, "hush") {
		t.Errorf("exit code %d; shown\n%s", code, shown)
	}
	if text := read(t, "toolfit.yaml"); !strings.Contains(text, `KEY: "${file:secrets/weather.KEY}"`) || !strings.Contains(text,
		"MODE: exact") ||
		!strings.Contains(text, "--units, metric") {
		t.Errorf("the file is\n%s", text)
	}
	if got := read(t, "secrets/weather.KEY"); got != "hush-4711\n" {
		t.Errorf("the secret is %q", got)
	}
}

func TestASecretCanStayInTheEnvironment(t *testing.T) {
	w := newWorld(t)
	put(t, "server.json", asking)
	code, shown := converse(t, w, []string{"add", "server.json", "--set", "MODE=fast",
		"--yes"}, map[string]string{"variable KEY): ": "", "[metric]: ": "us"})
	if text := read(t, "toolfit.yaml"); code != 0 || !strings.Contains(text, `KEY: "${KEY}"`) || !strings.Contains(text, "--units, us") {
		t.Errorf("exit code %d; the file is\n%s\nshown\n%s", code, text, shown)
	}
}

func TestAServerThatIsNotMeantLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	put(t, "server.json", asking)
	code, shown := converse(t, w, []string{"add", "server.json", "--set", "MODE=fast", "--set", "units=us"},
		map[string]string{"variable KEY): ": "hush-4711", "add it as weather? [y/N] ": ""})
	if code != 1 || !strings.Contains(shown, "nothing was added") {
		t.Errorf("exit code %d; shown\n%s", code, shown)
	}
	for _, path := range []string{"toolfit.yaml", "secrets/weather.KEY"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

func TestABundleThatAnotherServerRunsIsNotRemoved(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	z := zip.NewWriter(&text)
	f, err := z.Create("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"manifest_version": "0.3", "name": "w", "server": {"type": "node", "mcp_config": {"command": "node"}}}`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, "w.mcpb", text.String())
	dir, err := filepath.Abs(fmt.Sprintf("bundles/%x", sha256.Sum256([]byte(text.String()))))
	if err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]bool{
		"mcpServers: {}\n": false,
		"mcpServers: {other: {command: node, cwd: " + dir + "}}": true,
	} {
		os.RemoveAll(dir)
		put(t, "toolfit.yaml", config)
		code, shown := converse(t, w, []string{"add", "w.mcpb"}, map[string]string{"add it as w? [y/N] ": "n"})
		if _, err := os.Stat(dir); code != 1 || (err == nil) != want {
			t.Errorf("with %s: exit code %d, %v; shown\n%s", config, code, err, shown)
		}
	}
}
