package trial_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/trial"
)

func TestRecordingsHoldNoSecrets(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "traces", "resources"), 0o755); err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Minute)
	for name, text := range map[string]string{
		"traces/a.trace": `{"params":{"value":"p\"w 1"}}` + "\n", "traces/a.network": `{"url":"http://h/?p=p%22w+1"}`,
		"traces/resources/b.html": "<p>p&quot;w 1</p>", "old.txt": `p"w 1`, "page.png": `p"w 1`,
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
	if err := trial.SaveTraces(dir, dir, begun, []string{`p"w 1`}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"traces/a.trace": `{"params":{"value":"•••"}}` + "\n",
		"traces/a.network": `{"url":"http://h/?p=•••"}`, "traces/resources/b.html": "<p>•••</p>", "old.txt": `p"w 1`, "page.png": `p"w 1`} {
		if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(data) != want {
			t.Errorf("%s: %s %v", name, data, err)
		}
	}
	if err := trial.SaveTraces(filepath.Join(dir, "nowhere"), filepath.Join(dir, "nowhere"), begun, []string{"x"}); err != nil {
		t.Errorf("nothing was recorded: %v", err)
	}
}

func TestARecordingInALinkedFolderIsMasked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "real")
	link := dir + "-link"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no links here: ", err)
	}
	path := filepath.Join(dir, "a.trace")
	if err := os.WriteFile(path, []byte(`{"value":"hunter2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := trial.SaveTraces(link, link, time.Time{}, []string{"hunter2"}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != `{"value":"•••"}` {
		t.Errorf("%s %v", data, err)
	}
}

func TestARecordingCanBeReadAfterAShortValueWasMasked(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a port is masked in an address, not in a time", "a.trace", `{"time":13000.5,"url":"http://h:3000/"}` + "\n" + `{"n":3000}`,
			`{"time":13000.5,"url":"http://h:•••/"}` + "\n" + `{"n":"•••"}`},
		{"what is no JSON is masked wherever it is", "a.network", "13000.5\t[3000\n", "1•••.5\t[•••\n"},
		{"so is what a page has sent", "a.json", `{"pin":13000}`, `{"pin":1•••}`},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := trial.SaveTraces(filepath.Dir(path), filepath.Dir(path), time.Time{}, []string{"3000"}); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != c.want {
			t.Errorf("%s: %s %v", c.name, data, err)
		}
	}
}

func TestARecordingThatIsTooLongIsSaidAndTheOthersAreMasked(t *testing.T) {
	dir := t.TempDir()
	long, short := filepath.Join(dir, "a.trace"), filepath.Join(dir, "b.trace")
	for _, path := range []string{long, short} {
		if err := os.WriteFile(path, []byte(`"hunter2"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(long, 1<<30); err != nil { // which takes no room
		t.Fatal(err)
	}
	if err := trial.SaveTraces(dir, dir, time.Time{}, []string{"hunter2"}); err == nil ||
		!strings.Contains(err.Error(), "a.trace is too long") {
		t.Errorf("it is not said: %v", err)
	}
	if data, err := os.ReadFile(short); err != nil || string(data) != `"•••"` {
		t.Errorf("%s %v", data, err)
	}
}

func TestWhatIsKeptElsewhereIsNeverUnmasked(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	for name, text := range map[string]string{"traces/a.trace": `{"value":"hunter2"}`, "page.png": "hunter2", "long.network": "hunter2"} {
		path := filepath.Join(from, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(from, "long.network"), 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := trial.SaveTraces(from, to, time.Time{}, []string{"hunter2"}); err == nil ||
		!strings.Contains(err.Error(), "long.network is too long, and is not kept") {
		t.Errorf("it is not said: %v", err)
	}
	kept := map[string]string{}
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(to, path)
			data, _ := os.ReadFile(path)
			kept[filepath.ToSlash(name)] = string(data)
		}
		return err
	})
	if want := (map[string]string{"traces/a.trace": `{"value":"•••"}`, "page.png": "hunter2"}); err != nil || !maps.Equal(kept, want) {
		t.Errorf("kept %v, %v", kept, err)
	}
	if err := os.Remove(filepath.Join(from, "long.network")); err != nil {
		t.Fatal(err)
	}
	if err := trial.SaveTraces(from, to, time.Time{}, nil); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(to, "traces", "a.trace")); err != nil || string(data) != `{"value":"hunter2"}` {
		t.Errorf("what is no secret is kept as it is: %s, %v", data, err)
	}
}
