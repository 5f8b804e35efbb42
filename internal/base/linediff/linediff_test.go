package linediff

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for name, c := range map[string]struct{ old, now, want string }{
		"nothing":       {"a\n", "a\n", ""},
		"a new file":    {"", "a\nb\n", "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"an empty one":  {"a\n", "", "--- x\n+++ y\n@@ -1,1 +0,0 @@\n-a\n"},
		"one line":      {"a\nb\nc\n", "a\nB\nc\n", "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"Windows lines": {"a\r\nb\r\n", "a\r\n", "--- x\n+++ y\n@@ -1,2 +1,1 @@\n a\n-b\n"},
		"far from each other": {ten, "0\n" + strings.Replace(ten, "9\n", "", 1),
			"--- x\n+++ y\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,5 +7,4 @@\n 6\n 7\n 8\n-9\n 10\n"},
	} {
		if got := Unified("x", "y", c.old, c.now); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestPatchAppliesWhatUnifiedSays(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch is not installed")
	}
	old := "{\n" + strings.Repeat("  a\n  b\n", 50) + "}\n"
	now := strings.Replace(strings.Replace(old, "  b\n", "", 3), "}\n", "  new\n}\n", 1)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(patch, path)
	cmd.Stdin = strings.NewReader(Unified("file", "file", old, now))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != now {
		t.Errorf("got %s, %v", got, err)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, old, now string) {
		a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
		if len(a) > 200 || len(b) > 200 {
			return
		}
		var was, is []string
		for _, l := range Compare(a, b, Equal) {
			if l.Mark != "+" {
				was = append(was, l.Text)
			}
			if l.Mark != "-" {
				is = append(is, l.Text)
			}
		}
		if !slices.Equal(was, a) || strings.Join(is, "\n") != now {
			t.Errorf("%q and %q do not come back: %q, %q", old, now, was, is)
		}
	})
}
