// Command release builds everything that a release publishes into the folder dist: archives, packages of Linux
// distributions, npm packages, images, .mcpb bundles, the manifests of package managers, bills of materials and checksums.
// The same commit gives the same bytes. It publishes nothing; .github/workflows/release.yml does, see docs/releasing.md.
//
//	go run ./scripts/release -version v0.1.0
//	go run ./scripts/release -only linux/amd64 -parts archive,deb,npm
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "version `tag`, such as v0.1.0 (default: a snapshot named after the commit)")
	only := flag.String("only", "", "platforms to build, such as linux/amd64,darwin/arm64 (default: all)")
	parts := flag.String("parts", strings.Join(allParts, ","), "what to build")
	dist := flag.String("dist", "dist", "`folder` to write to; it is emptied first")
	uv := flag.String("uv", "", "`folder` with uv's archives, for the full image")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := plan(ctx, *version, *only, *parts)
	if err == nil {
		r.dist, r.uv = *dist, *uv
		err = r.run(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// allParts are the parts of a release, in the order in which they are made: manifests name the files before them.
var allParts = []string{"archive", "deb", "rpm", "apk", "archlinux", "npm", "mcpb", "sbom", "image", "full", "manifests"}

// release is what is built, and from what.
type release struct {
	Tag     string // v0.1.0
	Version string // 0.1.0
	Time    time.Time

	platforms []platform
	parts     []string
	dist      string
	uv        string
	work      string             // a temporary folder
	programs  map[platform]*file // as built
	extras    []file             // what lies beside the program: licence, man pages, completions
}

// platform is what Go builds for.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// Program is the name of the executable.
func (p platform) Program() string {
	if p.OS == "windows" {
		return "toolfit.exe"
	}
	return "toolfit"
}

var allPlatforms = []platform{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

var tag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// plan reads what the repository says about itself, and checks what is wanted.
func plan(ctx context.Context, version, only, parts string) (*release, error) {
	commit, err := git(ctx, "log", "-1", "--format=%h %ct")
	if err != nil {
		return nil, err
	}
	short, seconds, _ := strings.Cut(commit, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the time of the commit: %w", err)
	}
	changed, err := git(ctx, "status", "--porcelain")
	switch {
	case err != nil:
		return nil, err
	case version != "" && !tag.MatchString(version):
		return nil, fmt.Errorf("version %q is not of the form v0.1.0", version)
	case version != "" && changed != "":
		return nil, errors.New("there are uncommitted changes: commit them, or leave the version out to build a snapshot")
	case version != "" && !isFolder(".git"):
		return nil, errors.New("this is no clone but a linked worktree, where Go cannot tell the commit: clone the repository and build there")
	}
	r := &release{Tag: cmp.Or(version, "v0.0.0-snapshot."+short), Time: time.Unix(at, 0).UTC(), programs: map[platform]*file{}}
	r.Version = r.Tag[1:]
	for _, name := range split(only) {
		at := slices.IndexFunc(allPlatforms, func(p platform) bool { return p.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("platform %q is none of %v", name, allPlatforms)
		}
		r.platforms = append(r.platforms, allPlatforms[at])
	}
	if len(r.platforms) == 0 {
		r.platforms = allPlatforms
	}
	wanted := split(parts)
	for _, name := range wanted {
		if !slices.Contains(allParts, name) {
			return nil, fmt.Errorf("part %q is none of %v", name, allParts)
		}
	}
	for _, name := range allParts {
		if slices.Contains(wanted, name) {
			r.parts = append(r.parts, name)
		}
	}
	return r, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// run builds the programs, then every part, then the checksums.
func (r *release) run(ctx context.Context) (err error) {
	if err := r.lacks(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dist, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "toolfit-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, p := range r.platforms {
		if err := r.build(ctx, p); err != nil {
			return err
		}
	}
	if r.extras, err = extras(r.Version, r.Time); err != nil {
		return err
	}
	make := map[string]func(context.Context) error{
		"archive": r.each(r.archive), "npm": r.npm, "mcpb": r.each(r.bundle), "sbom": r.each(r.bill),
		"image": r.image, "full": r.full, "manifests": r.manifests,
	}
	for _, name := range []string{"deb", "rpm", "apk", "archlinux"} {
		make[name] = func(ctx context.Context) error { return r.nfpm(ctx, name) }
	}
	for _, name := range r.parts {
		if err := make[name](ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return r.checksums()
}

// lacks tells which program is missing, before minutes are spent on what does not need it.
func (r *release) lacks() error {
	needs := map[string][]string{"deb": {"nfpm"}, "rpm": {"nfpm"}, "apk": {"nfpm"}, "archlinux": {"nfpm"}, "full": {"mmdebstrap", "npm"}}
	for _, part := range r.parts {
		for _, program := range needs[part] {
			if _, err := exec.LookPath(program); err != nil {
				return fmt.Errorf("%s needs %s, which is not installed: install it, or name the other parts with RELEASE=\"-parts %s\"",
					part, program, strings.Join(slices.DeleteFunc(slices.Clone(r.parts), func(p string) bool {
						return slices.Contains(needs[p], program)
					}), ","))
			}
		}
	}
	return nil
}

// each makes a part for every platform.
func (r *release) each(one func(platform) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, p := range r.platforms {
			if err := errors.Join(ctx.Err(), one(p)); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		return nil
	}
}

// build compiles the program for a platform. Nothing of this machine gets into it: neither paths nor a C library. Version,
// commit and time do.
func (r *release) build(ctx context.Context, p platform) error {
	path := filepath.Join(r.work, p.OS+"-"+p.Arch, p.Program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true",
		"-ldflags", "-s -w -X github.com/toolfit/toolfit/internal/program/cli.release="+r.Tag, "-o", path, "./cmd/toolfit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off",
		"GOFLAGS=-trimpath", "GOFIPS140=off", "GOEXPERIMENT=") // an empty GOFLAGS would be that of go env -w
	if err := run(cmd); err != nil {
		return fmt.Errorf("build for %s: %w", p, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Printf("%-45s %6.1f MB\n", "program for "+p.String(), float64(len(data))/1e6)
	r.programs[p] = &file{name: p.Program(), mode: 0o755, data: data}
	return nil
}

// checksums writes the sums of everything, as sha256sum --check reads them.
func (r *release) checksums() error {
	names, err := os.ReadDir(r.dist)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, entry := range names { // sorted
		sum, err := r.sum(entry.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, entry.Name())
	}
	return r.write("checksums.txt", []byte(text.String()))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w; a release is built from a git checkout", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// run runs a program; what it said is in the error.
func run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}
