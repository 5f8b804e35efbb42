package trial_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/steps/trial"
)

func TestRecordingsHoldNoSecrets(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "traces", "resources"), 0o755); err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Minute)
	for name, text := range map[string]string{
		"traces/a.trace": `{"params":{"value":"p\"w 1"}}` + "\n", "traces/a.network": `{"url":"http://h/?p=p%22w+1"}`, "traces/resources/b.html": "<p>p&quot;w 1</p>", "old.txt": `p"w 1`, "page.png": `p"w 1`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "old.txt" {
			if err := os.Chtimes(path, begun.Add(-time.Hour), begun.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := trial.MaskFiles(dir, begun, []string{`p"w 1`}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"traces/a.trace": `{"params":{"value":"•••"}}` + "\n", "traces/a.network": `{"url":"http://h/?p=•••"}`, "traces/resources/b.html": "<p>•••</p>", "old.txt": `p"w 1`, "page.png": `p"w 1`} {
		if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(data) != want {
			t.Errorf("%s: %s %v", name, data, err)
		}
	}
	if err := trial.MaskFiles(filepath.Join(dir, "nowhere"), begun, []string{"x"}); err != nil {
		t.Errorf("nothing was recorded: %v", err)
	}
}
