package mcpb

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/serverjson"
)

const nodeManifest = `{"manifest_version": "0.3", "name": "weather", "version": "1.0.0",
	"server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {"command": "node",
		"args": ["${__dirname}/server/index.js"]}}}`

// entry is a file of a zip.
type entry struct {
	name, text string
	mode       fs.FileMode
}

// bundle writes a zip with the entries and returns its path.
func bundle(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABundleIsUnpackedOnce(t *testing.T) {
	path := bundle(t, entry{"manifest.json", strings.Replace(nodeManifest, "node\", \"entry",
		"binary\", \"entry", 1), 0o644}, entry{"server/", "", fs.ModeDir | 0o755},
		entry{"server/index.js", "main", 0o644}, entry{"server/run", "tool", 0o755})
	folder := filepath.Join(t.TempDir(), "bundles")
	dir, fresh, err := Unpack(path, "", folder)
	if err != nil || !fresh {
		t.Fatal(dir, fresh, err)
	}
	text, _ := os.ReadFile(path)
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if filepath.Base(dir) != sum || !filepath.IsAbs(dir) {
		t.Errorf("it is in %s", dir)
	}
	for name, want := range map[string]fs.FileMode{"manifest.json": 0o644, "server/index.js": 0o755,
		"server/run": 0o755} { // the entry point of a binary runs
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	again, fresh, err := Unpack(path, sum, folder)
	if err != nil || fresh || again != dir {
		t.Error(again, fresh, err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

func TestABundleIsUnpackedByManyAtOnce(t *testing.T) {
	path := bundle(t, entry{"manifest.json", nodeManifest, 0o644}, entry{"x", strings.Repeat("x", 1<<20), 0o644})
	folder := filepath.Join(t.TempDir(), "bundles")
	var all sync.WaitGroup
	var first atomic.Int32
	for range 8 {
		all.Go(func() {
			dir, fresh, err := Unpack(path, "", folder)
			if _, missing := os.Stat(filepath.Join(dir, "x")); err != nil || missing != nil {
				t.Error(dir, err, missing)
			}
			if fresh {
				first.Add(1)
			}
		})
	}
	all.Wait()
	if left, _ := os.ReadDir(folder); len(left) != 1 || first.Load() != 1 {
		t.Errorf("%d were the first; there is %v", first.Load(), left)
	}
}

func TestAProgramMayHaveAnotherNameOnOtherSystems(t *testing.T) {
	manifest := `{"manifest_version": "0.3", "name": "w", "server": {"type": "binary", "entry_point": %q, "mcp_config": {"command": "x"}}}`
	for name, ok := range map[string]bool{"server/x": true, "../x": false, "/bin/sh": false} {
		path := bundle(t, entry{"manifest.json", fmt.Sprintf(manifest, name), 0o644}, entry{"server/x.exe", "MZ", 0o644})
		if _, _, err := Unpack(path, "", t.TempDir()); (err == nil) != ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestHostileBundlesLeaveNothingBehind(t *testing.T) {
	manifest := entry{"manifest.json", nodeManifest, 0o644}
	many := []entry{manifest}
	for i := range 20 {
		many = append(many, entry{fmt.Sprint("f", i), "", 0o644})
	}
	for rule, entries := range map[string][]entry{
		"a path above":             {manifest, {"../x", "x", 0o644}},
		"a path above, hidden":     {manifest, {"a/../../x", "x", 0o644}},
		"an absolute path":         {manifest, {"/tmp/x", "x", 0o644}},
		"a drive":                  {manifest, {"C:/x", "x", 0o644}},
		"a stream of a file":       {manifest, {"x:y", "x", 0o644}},
		"backslashes":              {manifest, {`..\x`, "x", 0o644}},
		"a control character":      {manifest, {"a\x1bb", "x", 0o644}},
		"the folder itself":        {manifest, {".", "x", 0o644}},
		"a link":                   {manifest, {"x", "/etc/passwd", fs.ModeSymlink | 0o777}},
		"a link, then through it":  {manifest, {"x", "..", fs.ModeSymlink | 0o777}, {"x/y", "x", 0o644}},
		"a device":                 {manifest, {"x", "", fs.ModeDevice | 0o644}},
		"a pipe":                   {manifest, {"x", "", fs.ModeNamedPipe | 0o644}},
		"a file twice":             {manifest, {"x", "1", 0o644}, {"x", "2", 0o644}},
		"a file twice, other case": {manifest, {"Manifest.json", "{}", 0o644}},
		"a file as a folder":       {manifest, {"x", "1", 0o644}, {"x/y", "2", 0o644}},
		"a folder as a file":       {manifest, {"x/y", "1", 0o644}, {"x", "2", 0o644}},
		"too many files":           many,
		"a bomb":                   {manifest, {"x", strings.Repeat("0", 1<<20), 0o644}},
		"a bomb in parts":          {manifest, {"x", strings.Repeat("0", 4000), 0o644}, {"y", strings.Repeat("0", 4000), 0o644}},
		"a long name":              {manifest, {strings.Repeat("x/", 600) + "x", "x", 0o644}},
		"no manifest":              {{"x", "x", 0o644}},
		"a manifest that is none":  {{"manifest.json", "[]", 0o644}},
	} {
		parent := t.TempDir()
		folder := filepath.Join(parent, "bundles")
		dir, _, err := limits{unpacked: 6000, entries: 10}.unpack(bundle(t, entries...), "", folder)
		if err == nil || fault.As(err).Code == fault.Internal {
			t.Errorf("%s: got %s, %v", rule, dir, err)
		}
		filepath.WalkDir(parent, func(path string, _ fs.DirEntry, _ error) error {
			if path != parent && path != folder {
				t.Errorf("%s: left %s behind", rule, path)
			}
			return nil
		})
	}
}

func TestOnlyThePublishedBundleIsUnpacked(t *testing.T) {
	path := bundle(t, entry{"manifest.json", nodeManifest, 0o644})
	if dir, _, err := Unpack(path, strings.Repeat("0", 64), t.TempDir()); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("got %s, %v", dir, err)
	}
	if dir, _, err := Unpack(path+"x", "", t.TempDir()); err == nil {
		t.Errorf("got %s", dir)
	}
}

func TestABundleIsDownloaded(t *testing.T) {
	path := bundle(t, entry{"manifest.json", nodeManifest, 0o644})
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer s.Close()
	folder := t.TempDir()
	got, err := Download(t.Context(), s.Client(), s.URL+"/x.mcpb", folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Unpack(got, "", t.TempDir()); err != nil {
		t.Error(err)
	}
	if got, err := Download(t.Context(), s.Client(), s.URL+"/none", folder); err == nil {
		t.Errorf("got %s", got)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

// planned is the server of a manifest as text.
func planned(t *testing.T, manifest, system string, answers serverjson.Answers) (string, error) {
	t.Helper()
	m, err := Parse([]byte(manifest))
	if err != nil {
		return "", err
	}
	plan, err := m.Plan("/b", "/home/ann", system)
	if err != nil {
		return "", err
	}
	s, open, err := plan.Fill(answers)
	words := append([]string{s.Command}, s.Args...)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		words = append(words, "| "+name+"="+s.Env[name])
	}
	for _, q := range open {
		words = append(words, "? "+q.Name)
	}
	return strings.Join(words, " "), err
}

func TestServersAreMadeAsManifestsSay(t *testing.T) {
	manifest := func(server, more string) string {
		return `{"manifest_version": "0.3", "name": "weather", "server": ` + server + more + `}`
	}
	options := `, "user_config": {"dirs": {"type": "directory", "multiple": true, "required": true, "default": ["${HOME}/x", "${DESKTOP}"]},
		"key": {"type": "string", "sensitive": true, "required": true}, "n": {"type": "number", "default": 10, "max": 20},
			"opt": {"type": "string"}}`
	launch := `{"type": "node", "entry_point": "i.js", "mcp_config": {"command": "node", "args": ["${__dirname}${/}i.js",
		"${user_config.dirs}", "--n=${user_config.n}", "${user_config.opt}"],
		"env": {"KEY": "${user_config.key}", "OPT": "${user_config.opt}", "OTHER": "${TOKEN} ${user_config.none}"}}}`
	platforms := `{"type": "binary", "entry_point": "bin/x", "mcp_config": {"command": "bin/x", "args": ["a"], "env": {"A": "1"},
		"platform_overrides": {"win32": {"command": "bin/x.exe"}, "darwin": {"args": ["b"], "env": {}}}}}`
	for rule, one := range map[string]struct {
		manifest, system string
		answers          serverjson.Answers
		want             string
	}{
		"options and folders are filled in, all else stays text": {manifest(launch, options),
			"linux", serverjson.Answers{"key": {"${KEY}"}, "dirs": {"/a", "/b c"}},
			"node /b/i.js /a /b c --n=10 | KEY=${KEY} | OTHER=$${TOKEN} $${user_config.none}"},
		"defaults, and what is left to ask": {manifest(launch, options), "linux", nil,
			"node /b/i.js /home/ann/x /home/ann/Desktop --n=10 | OTHER=$${TOKEN} $${user_config.none} ? dirs ? key"},
		"a program of the bundle":    {manifest(platforms, ""), "linux", nil, "/b/bin/x a | A=1"},
		"another program on Windows": {manifest(platforms, ""), "windows", nil, "/b/bin/x.exe a | A=1"},
		"a program on Windows":       {manifest(strings.Replace(platforms, "win32", "none", 1), ""), "windows", nil, "/b/bin/x.exe a | A=1"},
		"other arguments on a Mac":   {manifest(platforms, ""), "darwin", nil, "/b/bin/x b"},
		"uv runs by itself": {`{"manifest_version": "0.4", "name": "w", "server": {"type": "uv", "entry_point": "src/s.py"}}`, "linux", nil,
			"uv run --directory /b src/s.py"},
		"the older name of the format": {`{"dxt_version": "0.1", "name": "w", "server": {"type": "python",
			"mcp_config": {"command": "python"}}}`, "linux", nil, "python"},
		"a system that it is not for": {manifest(launch, `, "compatibility": {"platforms": ["win32"]}`), "linux", nil,
			"is for win32, not for linux"},
		"a number over its limit": {manifest(launch, options), "linux", serverjson.Answers{"n": {"21"}}, "not within the limits"},
		"control characters": {manifest(`{"type": "node", "mcp_config": {"command": "node", "args": ["\u001b[2J"]}}`, ""),
			"linux", nil, "control characters"},
		"no command":     {manifest(`{"type": "node"}`, ""), "linux", nil, "how to start"},
		"a later format": {strings.Replace(nodeManifest, "0.3", "1.0", 1), "linux", nil, "format"},
		"no name":        {`{"manifest_version": "0.3"}`, "linux", nil, "no name"},
	} {
		got, err := planned(t, one.manifest, one.system, one.answers)
		if err != nil {
			got = err.Error()
		}
		if got != one.want && (err == nil || !strings.Contains(got, one.want)) {
			t.Errorf("%s: got\n%s, want\n%s", rule, got, one.want)
		}
	}
}

// FuzzManifest holds that no text of a stranger becomes a reference.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(nodeManifest))
	f.Add([]byte(`{"manifest_version": "0.3", "name": "w", "server": {"mcp_config": {"command": "x", "args": ["$${user_config.a}{b}",
		"${user_config.a}"], "env": {"A": "${HOME}${X}"}}},
		"user_config": {"a": {"default": ["$", "${HOME}"], "multiple": true}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		plan, err := m.Plan("/b", "/home/ann", "linux")
		if err != nil {
			return
		}
		s, _, err := plan.Fill(nil)
		if err != nil {
			return
		}
		for _, text := range append([]string{s.Command, s.Cwd}, slices.Concat(s.Args, slices.Collect(maps.Values(s.Env)))...) {
			if strings.Contains(strings.ReplaceAll(text, "$${", "_"), "${") {
				t.Errorf("%q refers to something", text)
			}
		}
	})
}

// FuzzUnpack holds that nothing is written beside the folder of the bundle, whatever the zip.
func FuzzUnpack(f *testing.F) {
	for _, name := range []string{"a/b", "../x"} {
		text, err := os.ReadFile(bundle(f, entry{"manifest.json", nodeManifest, 0o644}, entry{name, "x", 0o644}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		path := filepath.Join(parent, "x.mcpb")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		limits{unpacked: 1 << 16, entries: 100}.unpack(path, "", filepath.Join(parent, "sub", "bundles"))
		for _, dir := range []string{parent, filepath.Join(parent, "sub")} {
			if there, _ := os.ReadDir(dir); len(there) > 2 || dir != parent && len(there) > 1 {
				t.Errorf("%s has %v", dir, there)
			}
		}
	})
}
