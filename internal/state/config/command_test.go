package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRelativeCommandIsFoundFromItsFolderAndNeverInPATH(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".bat"
	}
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", "sub/y"} {
		if err := os.WriteFile(name+suffix, []byte("exit 0\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", "")
	for name, c := range map[string]struct{ text, want string }{
		"no cwd":                 {`{command: ./x}`, "x"},
		"cwd is the file's own":  {`{command: ./x, cwd: .}`, "x"},
		"from cwd":               {`{command: ./y, cwd: sub}`, "sub/y"},
		"up from cwd":            {`{command: ../x, cwd: sub}`, "x"},
		"a folder in the name":   {`{command: sub/y}`, "sub/y"},
		"cwd is absolute":        {`{command: ./y, cwd: ` + filepath.ToSlash(filepath.Join(dir, "sub")) + `}`, "sub/y"},
		"a bare name is no file": {`{command: x}`, ""},
	} {
		cfg, err := Parse("toolfit.yaml", []byte("mcpServers:\n  s: "+c.text+"\n"), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := cfg.Servers[0].Program()
		if c.want == "" {
			if err == nil && runtime.GOOS != "windows" { // which looks here first
				t.Errorf("%s: found %s", name, got)
			}
			continue
		}
		want, _ := filepath.Abs(filepath.FromSlash(c.want) + suffix)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %s", name, got, err, want)
		}
	}
}
