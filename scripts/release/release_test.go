package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/program/cli/mcpb"
	"github.com/toolfit/toolfit/internal/program/cli/serverjson"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fake is a release whose programs are a few bytes.
func fake(t *testing.T) *release {
	t.Helper()
	r := &release{Tag: "v0.1.0", Version: "0.1.0", Time: at, platforms: allPlatforms, programs: map[platform]*file{}, dist: t.TempDir()}
	for _, p := range allPlatforms {
		r.programs[p] = &file{name: p.Program(), mode: 0o755, data: []byte("program for " + p.String())}
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		r.extras = append(r.extras, file{name: name, mode: 0o644, data: []byte(name)})
	}
	return r
}

func TestWrongWishesAreRefused(t *testing.T) {
	for wish, args := range map[string][3]string{
		"is not of the form v0.1.0": {"0.1.0", "", ""},
		"is none of [darwin/amd64":  {"", "linux/mips", ""},
		"is none of [archive deb":   {"", "", "snap"},
	} {
		if _, err := plan(t.Context(), args[0], args[1], args[2]); err == nil || !strings.Contains(err.Error(), wish) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestAMissingProgramIsNamedBeforeAnythingIsBuilt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := fake(t)
	r.parts = []string{"archive", "npm", "full"}
	const want = `full needs mmdebstrap, which is not installed: install it, or name the other parts with RELEASE="-parts archive,npm"`
	if err := r.run(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOfFilesWithTheSameNameTheLastOneIsUnpacked(t *testing.T) {
	var files []file
	for i := range 100 {
		files = append(files, file{name: "same", owner: i}, file{name: "z"})
	}
	if last := sorted(files)[99]; last.owner != 99 {
		t.Errorf("the last is number %d", last.owner)
	}
}

func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	files := []file{
		{name: "b", mode: 0o644, data: []byte("2")}, {name: "a", mode: 0o755, data: []byte("1")},
		{name: "d/", mode: 0o755}, {name: "c", link: "a"},
	}
	for _, pack := range []func([]file, time.Time) ([]byte, error){tarGz, zipped} {
		one, err := pack(files, at)
		if err != nil {
			t.Fatal(err)
		}
		turned := slices.Clone(files)
		slices.Reverse(turned)
		other, err := pack(turned, at.In(time.FixedZone("east", 8*3600)))
		if err != nil || !bytes.Equal(one, other) {
			t.Errorf("%v: %d and %d bytes", err, len(one), len(other))
		}
	}
}

func TestManifestsNameWhatWasBuilt(t *testing.T) {
	r := fake(t)
	for _, make := range []func(platform) error{r.archive, r.bundle} {
		for _, p := range allPlatforms {
			if err := make(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.manifests(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(r.dist)
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`releases/download/v0\.1\.0/([\w.-]+)`)
	for _, entry := range names {
		text := string(read(t, filepath.Join(r.dist, entry.Name())))
		var any any
		switch filepath.Ext(entry.Name()) {
		case ".json":
			err = json.Unmarshal([]byte(text), &any)
		case ".yaml":
			err = yaml.Unmarshal([]byte(text), &any)
		case ".rb":
		default:
			continue
		}
		if err != nil || strings.Contains(text, "<no value>") {
			t.Errorf("%s: %v\n%s", entry.Name(), err, text)
		}
		for _, m := range file.FindAllStringSubmatch(text, -1) {
			sum, err := r.sum(m[1])
			if err != nil || !strings.Contains(strings.ToLower(text), sum) {
				t.Errorf("%s names %s without its sum: %v", entry.Name(), m[1], err)
			}
		}
	}
	server, err := serverjson.Parse(read(t, filepath.Join(r.dist, "server.json")))
	if err != nil || server.Name != registryName {
		t.Errorf("our own reader of server.json: %v", err)
	}
}

func TestBundlesStartTheProgram(t *testing.T) {
	r := fake(t)
	if err := r.bundle(platform{"windows", "arm64"}); err != nil {
		t.Fatal(err)
	}
	m, err := mcpb.Parse(unzip(t, filepath.Join(r.dist, "toolfit-0.1.0-windows-arm64.mcpb"))["manifest.json"])
	if err != nil {
		t.Fatal(err)
	}
	if m.Server.Entry != "toolfit.exe" || m.Server.Config.Args[0] != "stdio" || m.Compatibility.Platforms[0] != "win32" {
		t.Errorf("%+v", m)
	}
}

func TestTheWrapperDependsOnEveryPlatform(t *testing.T) {
	r := fake(t)
	if err := r.npm(t.Context()); err != nil {
		t.Fatal(err)
	}
	packages := npmPackages(t, r.dist)
	wrapper := packages[filepath.Join(r.dist, "npm-toolfit-0.1.0.tgz")]
	needed := wrapper["optionalDependencies"].(map[string]any)
	if len(packages) != 7 || len(needed) != 6 {
		t.Errorf("%d packages, %d of which are needed", len(packages), len(needed))
	}
	for _, about := range packages {
		if name := about["name"].(string); name != "toolfit" && needed[name] != "0.1.0" {
			t.Errorf("nobody needs %s", name)
		}
	}
}

func TestBillsNameEveryModuleAndAreTheSameForTheSameProgram(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/m"}, Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0"},
		{Path: "example.com/b", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v3.0.0"}},
	}}
	text, err := json.Marshal(fake(t).bom(info, [32]byte{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"specVersion":"1.6"`, "pkg:golang/example.com/a@v1.0.0", "pkg:golang/example.com/c@v3.0.0", "pkg:golang/std@go1.26.8",
		"urn:uuid:01020300-0000-8000-8000-000000000000",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func TestImagesAreWhatTheirDigestsSay(t *testing.T) {
	r := fake(t)
	if err := r.image(t.Context()); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can unpack files of other users")
	}
	root := t.TempDir()
	start := openImage(t, filepath.Join(r.dist, "toolfit-0.1.0-image.tar"), "arm64", root)
	if start.User != "65532:65532" || start.Entrypoint[0] != "/usr/bin/toolfit" {
		t.Errorf("%+v", start)
	}
	if text := read(t, filepath.Join(root, "usr/bin/toolfit")); string(text) != "program for linux/arm64" {
		t.Errorf("%s", text)
	}
	certificates := read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if bytes.Count(certificates, []byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("%d bytes of certificates", len(certificates))
	}
}

func TestUVIsTakenOnlyIfItIsTheOneThatIsKnown(t *testing.T) {
	r := &release{uv: t.TempDir()}
	write(t, r.uv, uvArchives["arm64"][0], "something else")
	if _, err := r.unpackUV("arm64"); err == nil || !strings.Contains(err.Error(), "another content") {
		t.Errorf("another archive: %v", err)
	}
	if _, err := r.unpackUV("amd64"); !os.IsNotExist(err) {
		t.Errorf("no archive: %v", err)
	}
}

func TestManPagesCoverEveryCommandAndNothingIsTakenForAMacro(t *testing.T) {
	pages, err := manual("0.1.0", at)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	macro := regexp.MustCompile(`^(\.(TH|SH|PP|TP|nf|fi)\b|[^.'])`)
	for _, page := range pages {
		names = append(names, page.name)
		for line := range strings.Lines(string(page.data)) {
			if line != "\n" && !macro.MatchString(line) {
				t.Errorf("%s: %s", page.name, line)
			}
		}
	}
	for _, want := range []string{"toolfit.1", "toolfit-call.1", "toolfit-keys-create.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %d", want, len(names))
		}
	}
	if got := roff(".a\n'b\n\\c-d"); got != "\\&.a\n\\&'b\n\\ec\\-d" {
		t.Errorf("%q", got)
	}
}

// TestActionsArePinned: a tag of somebody else's repository can be moved, a commit cannot.
func TestActionsArePinned(t *testing.T) {
	paths, _ := filepath.Glob("../../.github/workflows/*.yml") // the pattern is well formed
	used := regexp.MustCompile(`uses: *(\S+)`)
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	for _, path := range paths {
		text := string(read(t, path))
		for _, m := range used.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %s", path, m[1])
			}
		}
		var any any
		if err := yaml.Unmarshal([]byte(text), &any); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
