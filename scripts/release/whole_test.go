package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestWhole builds a whole release and tries all of it that can be tried on one machine.
func TestWhole(t *testing.T) {
	if !*whole {
		t.Skip("takes many minutes; make release-check runs it")
	}
	if os.Geteuid() != 0 {
		t.Fatal("only root can try packages in roots of their own")
	}
	if changed := string(sh(t, "git", "status", "--porcelain")); changed != "" {
		t.Fatalf("commit first: a release is built from a commit\n%s", changed)
	}
	one, other := clone(t, "one folder"), clone(t, "another folder")
	dist := buildIn(t, one, "LANG=C")
	again := func(t *testing.T) string {
		return buildIn(t, other, "LANG=de_DE.UTF-8", "TZ=Asia/Shanghai", "TMPDIR="+t.TempDir())
	}
	for _, sub := range []struct {
		name string
		try  func(t *testing.T, dist string)
	}{
		{"the same commit gives the same bytes", func(t *testing.T, dist string) { trySame(t, dist, again(t)) }},
		{"every archive has its program", tryEveryArchive},
		{"archive", tryArchive},
		{"deb", tryDeb},
		{"rpm", tryRPM},
		{"apk", tryAPK},
		{"archlinux", tryArch},
		{"unit", tryUnit},
		{"npm", func(t *testing.T, dist string) { tryNPX(t, dist, startVerdaccio(t, dist)) }},
		{"mcpb", tryBundle},
		{"image", tryImage},
		{"full image", tryFull},
	} {
		t.Run(sub.name, func(t *testing.T) { sub.try(t, dist) })
	}
}

// clone is the last commit in a folder of that name.
func clone(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	sh(t, "git", "clone", "--quiet", "../..", dir)
	return dir
}

func buildIn(t *testing.T, dir string, env ...string) (dist string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./scripts/release", "-uv", os.Getenv("UV"), "-only", os.Getenv("ONLY"),
		"-parts", cmp.Or(os.Getenv("PARTS"), strings.Join(allParts, ",")))
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	t.Logf("%s", output(t, cmd))
	return filepath.Join(dir, "dist")
}

func trySame(t *testing.T, dist, other string) {
	var names []string
	for line := range strings.Lines(string(read(t, filepath.Join(dist, "checksums.txt")))) {
		names = append(names, strings.Fields(line)[1])
	}
	for _, name := range names {
		if !bytes.Equal(read(t, filepath.Join(dist, name)), read(t, filepath.Join(other, name))) {
			t.Errorf("%s differs", name)
		}
	}
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--quiet", "checksums.txt")
	sums.Dir = dist
	output(t, sums)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tryEveryArchive looks at how each program begins: that tells for which system it is.
func tryEveryArchive(t *testing.T, dist string) {
	magic := map[string]string{"linux": "\x7fELF", "darwin": "\xcf\xfa\xed\xfe", "windows": "MZ"}
	paths, _ := filepath.Glob(filepath.Join(dist, "toolfit-*-*.tar.gz")) // the pattern is well formed
	zips, _ := filepath.Glob(filepath.Join(dist, "toolfit-*-windows-*.zip"))
	for _, path := range append(paths, zips...) {
		files := map[string][]byte{}
		if strings.HasSuffix(path, ".zip") {
			files = unzip(t, path)
		} else {
			all, err := gunzip(read(t, path), func(string) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range all {
				files[f.name] = f.data
			}
		}
		folder := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".tar.gz"), ".zip")
		parts := strings.Split(folder, "-")
		p := platform{parts[len(parts)-2], parts[len(parts)-1]}
		if program := files[folder+"/"+p.Program()]; !strings.HasPrefix(string(program), magic[p.OS]) || len(program) < 1<<20 {
			t.Errorf("%s: %d bytes, %.4q", path, len(program), program)
		}
		for _, name := range []string{"LICENSE", "NOTICE", "README.md", "man/toolfit.1", "completions/toolfit.ps1"} {
			if len(files[folder+"/"+name]) == 0 {
				t.Errorf("%s has no %s", path, name)
			}
		}
	}
}

func unzip(t *testing.T, path string) map[string][]byte {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := map[string][]byte{}
	for _, f := range r.File {
		var b bytes.Buffer
		part, err := f.Open()
		if err == nil {
			_, err = b.ReadFrom(part)
		}
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = b.Bytes()
	}
	return files
}

func tryRPM(t *testing.T, dist string) {
	testparts.NeedProgram(t, "rpm2cpio", "it is in Debian's package rpm2cpio")
	root := bareRoot(t)
	path := the(t, dist, "*.x86_64.rpm")
	sh(t, "sh", "-c", `rpm2cpio "$0" | cpio -idm --quiet --no-absolute-filenames -D "$1" 2>&1`, path, root)
	tryInstalled(t, root, "usr/share/zsh/site-functions/_toolfit", true)
	if files := string(sh(t, "rpm", "-qp", "--configfiles", path)); files != "/etc/toolfit/toolfit.yaml\n" {
		t.Errorf("files that people change: %s", files)
	}
}

func tryAPK(t *testing.T, dist string) {
	root := bareRoot(t)
	sh(t, "tar", "-xzf", the(t, dist, "*_x86_64.apk"), "-C", root, "--warning=no-unknown-keyword")
	tryInstalled(t, root, "usr/share/zsh/site-functions/_toolfit", false)
}

func tryArch(t *testing.T, dist string) {
	root := bareRoot(t)
	sh(t, "tar", "--zstd", "-xf", the(t, dist, "*-x86_64.pkg.tar.zst"), "-C", root)
	for _, name := range []string{".PKGINFO", ".MTREE", ".INSTALL"} {
		need(t, root, name)
	}
	tryInstalled(t, root, "usr/share/zsh/site-functions/_toolfit", true)
}

// tryUnit has systemd judge the unit, in the root of the package.
func tryUnit(t *testing.T, dist string) {
	testparts.NeedProgram(t, "systemd-analyze", "it is in Debian's package systemd")
	root := bareRoot(t)
	sh(t, "dpkg-deb", "-x", the(t, dist, "*_amd64.deb"), root)
	unit := filepath.Join(root, "usr/lib/systemd/system/toolfit.service")
	text := strings.ReplaceAll(string(read(t, unit)), "/usr/bin/toolfit", filepath.Join(root, "usr/bin/toolfit"))
	write(t, filepath.Dir(unit), "toolfit.service", text)
	if said := string(sh(t, "systemd-analyze", "verify", "--man=no", unit)); strings.Contains(said, "toolfit") {
		t.Errorf("systemd says: %s", said)
	}
	sh(t, "systemd-analyze", "security", "--offline=true", "--threshold=25", unit) // of 100
}

// tryBundle has the program of the format's makers judge the bundle, then starts what it says.
func tryBundle(t *testing.T, dist string) {
	testparts.NeedProgram(t, "npx", "it comes with Node")
	root := bareRoot(t)
	for name, data := range unzip(t, the(t, dist, "*-linux-amd64.mcpb")) {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, "npx", "--yes", "@anthropic-ai/mcpb@2.1.2", "validate", filepath.Join(root, "manifest.json"))
	tryIn(t, root, "/toolfit")
}

// startVerdaccio is a real registry with the packages of dist, published as people publish them.
func startVerdaccio(t *testing.T, dist string) (address string) {
	t.Helper()
	node := testparts.Need(t).Program() // one that is new enough
	testparts.NeedProgram(t, "npm", "it comes with Node")
	dir := t.TempDir()
	address = "http://" + freeAddress(t)
	// One of its dependencies names a tag that not every registry has.
	write(t, dir, "package.json", `{"private": true, "dependencies": {"verdaccio": "6.10.4"}, "overrides": {"node-fetch": "2.7.0"}}`)
	write(t, dir, "config.yaml", fmt.Sprintf(`
storage: %s/storage
auth: {htpasswd: {file: %s/htpasswd}}
packages: {"**": {access: $all, publish: $authenticated}}
max_body_size: 200mb
log: {type: stdout, format: json, level: error}
`, dir, dir))
	install := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	output(t, install)
	ctx, stop := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, node, "node_modules/.bin/verdaccio", "--config", "config.yaml", "--listen", address)
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		server.Wait() // ended by us
	})
	host := strings.TrimPrefix(address, "http:")
	write(t, dir, ".npmrc", host+"/:_authToken="+signUp(t, address))
	for path := range npmPackages(t, dist) {
		output(t, npmCommand(t.Context(), dir, address, "npm", "publish", "--access=public", "--tag=latest", path))
	}
	return address
}

// signUp makes a user once the registry answers, and returns their token.
func signUp(t *testing.T, address string) string {
	t.Helper()
	body := `{"name": "ann", "password": "correct-horse", "type": "user", "roles": []}`
	out := sh(t, "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--retry", "30", "--retry-delay", "1", "--retry-all-errors",
		"-X", "PUT", "-H", "Content-Type: application/json", "-d", body, address+"/-/user/org.couchdb.user:ann")
	var answer struct{ Token string }
	at := bytes.IndexByte(out, '{')
	if at < 0 {
		t.Fatalf("the registry says %s", out)
	}
	if err := json.Unmarshal(out[at:], &answer); err != nil || answer.Token == "" {
		t.Fatalf("the registry says %s: %v", out, err)
	}
	return answer.Token
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
