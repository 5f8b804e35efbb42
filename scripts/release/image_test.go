package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// openImage unpacks the image of a platform, and checks that every blob is what its name says.
func openImage(t *testing.T, path, arch, root string) spec {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files, err := readTar(f, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{}
	for _, f := range files {
		if sum, is := strings.CutPrefix(f.name, "blobs/sha256/"); is && sum != hexSum(f.data) {
			t.Errorf("%s: blob %s has another sum", path, sum)
		}
		blobs[f.name] = f.data
	}
	follow := func(d descriptor, into any) {
		t.Helper()
		data := blobs["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(data) != d.Size {
			t.Fatalf("%s: blob %s has %d bytes, not %d", path, d.Digest, len(data), d.Size)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	type list struct{ Manifests []descriptor }
	var top, index list
	if err := json.Unmarshal(blobs["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("%s: %v %s", path, err, blobs["index.json"])
	}
	follow(top.Manifests[0], &index)
	for _, d := range index.Manifests {
		if d.Platform["architecture"] != arch {
			continue
		}
		var image struct {
			Config descriptor
			Layers []descriptor
		}
		follow(d, &image)
		var config struct{ Config spec }
		follow(image.Config, &config)
		for _, layer := range image.Layers {
			blob := blobs["blobs/sha256/"+strings.TrimPrefix(layer.Digest, "sha256:")]
			cmd := exec.CommandContext(t.Context(), "tar", "-xzp", "--same-owner", "--numeric-owner", "-C", root)
			cmd.Stdin = strings.NewReader(string(blob))
			output(t, cmd)
		}
		return config.Config
	}
	t.Fatalf("%s has nothing for %s", path, arch)
	return spec{}
}

// contain is a command in an image as container runtimes start it: its own user, a root that cannot be changed, and /data and
// /tmp that can. Runtimes themselves want control groups, which not every machine lets them have.
func contain(ctx context.Context, root string, start spec, args ...string) *exec.Cmd {
	const script = `set -e
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
mkdir -p "$root/proc" "$root/dev"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 none "$root/tmp"
mount -t tmpfs -o mode=0700,uid=${user%:*},gid=${user#*:} none "$root/data"
for name in resolv.conf hosts; do
	touch "$root/etc/$name"
	mount --bind "/etc/$name" "$root/etc/$name"
done
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs /usr/sbin/chroot --userspec="$user" --groups= "$root" "$@"`
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", script, "contain", root, start.User}, args...)...)
	cmd.Env = start.Env
	return cmd
}

// tryImage: the small image has the program, and runs it.
func tryImage(t *testing.T, dist string) {
	root := t.TempDir()
	start := openImage(t, the(t, dist, "*-image.tar"), "amd64", root)
	if start.User != "65532:65532" {
		t.Errorf("it runs as %s", start.User)
	}
	openImage(t, the(t, dist, "*-image.tar"), "arm64", t.TempDir())
	try(t, func(ctx context.Context, args ...string) *exec.Cmd {
		return contain(ctx, root, start, append(start.Entrypoint, args...)...)
	})
}

// tryFull: the full image runs a real server by npx, and has what uvx needs.
func tryFull(t *testing.T, dist string) {
	root := t.TempDir()
	start := openImage(t, the(t, dist, "*-image-full.tar"), "amd64", root)
	openImage(t, the(t, dist, "*-image-full.tar"), "arm64", t.TempDir())
	extra := "" // what this machine trusts beside
	if path := os.Getenv("NODE_EXTRA_CA_CERTS"); path != "" {
		write(t, filepath.Join(root, "etc/ssl"), "extra.pem", string(read(t, path)))
		extra = "/etc/ssl/extra.pem"
	}
	write(t, filepath.Join(root, "etc/toolfit"), "toolfit.yaml", `
store: /data/toolfit.db
mcpServers:
  everything:
    command: npx
    args: [-y, "@modelcontextprotocol/server-everything@2026.8.31"]
    env: {NODE_EXTRA_CA_CERTS: "`+extra+`", npm_config_loglevel: error}
`)
	try(t, func(ctx context.Context, args ...string) *exec.Cmd {
		return contain(ctx, root, start, append(start.Entrypoint, args...)...)
	})
	said := string(output(t, contain(t.Context(), root, start, "/usr/bin/toolfit", "--config", "/etc/toolfit/toolfit.yaml",
		"call", "--standalone", "everything__echo", "message=from the image")))
	if !strings.Contains(said, "Echo: from the image") {
		t.Errorf("the server answers %s", said)
	}
	const versions = "node --version && npx --version && python3 --version && python3 -c 'import ssl, sqlite3, venv'" +
		" && ! touch /x 2>/dev/null && touch /data/x /tmp/x"
	t.Logf("%s", output(t, contain(t.Context(), root, start, "sh", "-c", versions)))
	if os.Getenv("UV") != "" {
		t.Logf("%s", output(t, contain(t.Context(), root, start, "uvx", "--version")))
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
