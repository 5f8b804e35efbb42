package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
)

func TestFlagsBehindACommandAreTheCommands(t *testing.T) {
	env := &Env{Lookup: func(string) (string, bool) { return "", false }}
	for args, want := range map[string]string{
		"add x npx -y foo":                           "add x -- npx -y foo",
		"add x node s.js --port 3":                   "add x -- node s.js --port 3",
		"add x python -c code":                       "add x -- python -c code",
		"-c f.yaml add --env A=1 x --idle 5s npx -y": "-c f.yaml add --env A=1 x --idle 5s -- npx -y",
		"add x npx --yes foo":                        "add x -- npx --yes foo",
		"add x npx --package=a b --set c":            "add x -- npx --package=a b --set c",
		"add io.github.a/b --yes":                    "add io.github.a/b --yes",
		"add x io.github.a/b --yes --set a=b":        "add x io.github.a/b --yes --set a=b",
		"add x npx foo":                              "add x npx foo",
		"add x node s.js --env A=1 --json":           "add x node s.js --env A=1 --json",
		"add x -- npx -y":                            "add x -- npx -y",
		"add x npx -- -y":                            "add x npx -- -y",
		"add x https://example.com --header a:b -y":  "add x https://example.com --header a:b -y",
		"add x --openapi f.yaml --tag a -y":          "add x --openapi f.yaml --tag a -y",
		"add x -y":                                   "add x -y",
		"add x":                                      "add x",
		"add":                                        "add",
		"call add x -y z":                            "call add x -y z",
		"remove add":                                 "remove add",
	} {
		got, err := dashed(env, strings.Fields(args))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %v", args, got, err)
		}
	}
}

func TestAddTakesACommandWithFlags(t *testing.T) {
	w := newWorld(t)
	if code, _, errs := w.run(t, "add", "files", "npx", "-y", "foo", "--root", "."); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if text := read(t, "toolfit.yaml"); !strings.Contains(text, "command: npx\n    args: [-y, foo, --root, .]") {
		t.Errorf("the file is\n%s", text)
	}
	code, _, errs := w.run(t, "add", "x", "npx", "-y", "a b", "--timeout", "5s")
	if want := "toolfit add x [--timeout …] -- npx -y 'a b' --timeout 5s"; code != 2 || !strings.Contains(errs, want) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestPathsInAnAddedCommandAreOfTheFolderWhereItIsTyped(t *testing.T) {
	w := newWorld(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "toolfit.yaml")
	for _, args := range [][]string{{"files", "npx", "-y", "server", "."}, {"plain", "npx", "-y", "server"}} {
		if code, _, errs := w.run(t, append([]string{"--config", other, "add"}, args...)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
	}
	cfg, err := config.Load(other, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Servers[0].Cwd; got != here {
		t.Errorf("a command with a path runs in %q, want %q", got, here)
	}
	if text := read(t, other); strings.Count(text, "cwd:") != 1 {
		t.Errorf("a command without paths needs no folder:\n%s", text)
	}
}

// FuzzDashed holds that nothing but one -- is ever put between arguments.
func FuzzDashed(f *testing.F) {
	f.Add("add x npx -y foo")
	f.Add("-c= add --openapi=  --json")
	env := &Env{Lookup: func(string) (string, bool) { return "", false }}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		got, err := dashed(env, args)
		if err != nil {
			return
		}
		if again := strings.Join(got, " "); again != line && strings.Replace(again, " -- ", " ", 1) != line {
			t.Errorf("%q became %q", args, got)
		}
	})
}
