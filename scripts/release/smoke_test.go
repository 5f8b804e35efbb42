package main

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var (
	smoke = flag.Bool("smoke", false, "build the archive, the deb and the npm packages for this machine, and try them")
	whole = flag.Bool("whole", false, "build everything twice, compare it, and try it")
)

// TestSmoke: what people install first works in a root with nothing else in it.
func TestSmoke(t *testing.T) {
	if !*smoke {
		t.Skip("builds packages; make smoke runs it")
	}
	testparts.NeedProgram(t, "nfpm", "make smoke builds it")
	dist := build(t, "linux/amd64", "archive,deb,npm")
	t.Run("archive", func(t *testing.T) { tryArchive(t, dist) })
	t.Run("deb", func(t *testing.T) { tryDeb(t, dist) })
	t.Run("npm", func(t *testing.T) { tryNPX(t, dist, serveRegistry(t, dist)) })
}

// build builds parts of a snapshot into a folder of its own.
func build(t *testing.T, only, parts string) (dist string) {
	t.Helper()
	t.Chdir("../..")
	r, err := plan(t.Context(), "", only, parts)
	if err != nil {
		t.Fatal(err)
	}
	r.dist = filepath.Join(t.TempDir(), "dist")
	r.uv = os.Getenv("UV")
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.dist
}

// the is the only file in dist of that form.
func the(t *testing.T, dist, pattern string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(dist, pattern)) // the pattern is well formed
	if len(found) != 1 {
		t.Fatalf("%s: %q", pattern, found)
	}
	return found[0]
}

func tryArchive(t *testing.T, dist string) {
	root := bareRoot(t)
	sh(t, "tar", "-xzf", the(t, dist, "*-linux-amd64.tar.gz"), "-C", root, "--strip-components=1")
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "man/toolfit.1", "man/toolfit-call.1", "completions/toolfit.bash"} {
		need(t, root, name)
	}
	tryIn(t, root, "/toolfit")
}

func tryDeb(t *testing.T, dist string) {
	testparts.NeedProgram(t, "dpkg-deb", "it is in Debian's package dpkg")
	root := bareRoot(t)
	sh(t, "dpkg-deb", "-x", the(t, dist, "*_amd64.deb"), root)
	tryInstalled(t, root, "usr/share/zsh/vendor-completions/_toolfit", true)
}

// tryInstalled tries what a package of a Linux distribution has put into a root.
func tryInstalled(t *testing.T, root, zsh string, systemd bool) {
	t.Helper()
	names := []string{"etc/toolfit/toolfit.yaml", "usr/share/man/man1/toolfit.1*", "usr/share/bash-completion/completions/toolfit", zsh,
		"usr/share/fish/vendor_completions.d/toolfit.fish", "usr/share/doc/toolfit/LICENSE"}
	if systemd {
		names = append(names, "usr/lib/systemd/system/toolfit.service", "usr/lib/sysusers.d/toolfit.conf")
	}
	for _, name := range names {
		need(t, root, name)
	}
	tryIn(t, root, "/usr/bin/toolfit")
	state := filepath.Join(root, "var/lib/toolfit") // systemd makes it
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	output(t, inRoot(t, t.Context(), root, "/usr/bin/toolfit", "--config", "/etc/toolfit/toolfit.yaml", "servers", "--standalone"))
	need(t, root, "var/lib/toolfit/toolfit.db")
}

// bareRoot is a folder with nothing in it but one for temporary files.
func bareRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for dir := root; dir != "/" && os.Geteuid() == 0; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			if err := os.Chmod(dir, 0o755); err != nil { // another user must get there
				t.Fatal(err)
			}
		}
	}
	tmp := filepath.Join(root, "tmp")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	return root
}

// inRoot is a command whose root is the folder, run by nobody. Only root can do that; others run it where it lies.
func inRoot(t *testing.T, ctx context.Context, root string, command ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		cmd := exec.CommandContext(ctx, filepath.Join(root, command[0]), command[1:]...)
		for i, arg := range cmd.Args[1:] {
			if strings.HasPrefix(arg, "/") {
				cmd.Args[i+1] = filepath.Join(root, arg)
			}
		}
		cmd.Env = []string{"HOME=" + root, "TMPDIR=" + filepath.Join(root, "tmp")}
		return cmd
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Err = nil // it lies in the other root
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// tryIn tries a program in a bare root.
func tryIn(t *testing.T, root, program string) {
	t.Helper()
	try(t, func(ctx context.Context, args ...string) *exec.Cmd {
		return inRoot(t, ctx, root, append([]string{program}, args...)...)
	})
}

// try runs a program as the README does: its version, the demo, and one call with two mistakes in it.
func try(t *testing.T, command func(ctx context.Context, args ...string) *exec.Cmd) {
	t.Helper()
	if said := string(output(t, command(t.Context(), "version"))); !strings.HasPrefix(said, "toolfit ") {
		t.Errorf("version: %s", said)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	demo := command(ctx, "demo", "--listen", "127.0.0.1:0")
	if demo.SysProcAttr == nil {
		demo.SysProcAttr = &syscall.SysProcAttr{}
	}
	demo.SysProcAttr.Setpgid = true
	demo.WaitDelay = time.Second
	var complaints strings.Builder
	demo.Stderr = &complaints
	out, err := demo.StdoutPipe()
	if err == nil {
		err = demo.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			syscall.Kill(-demo.Process.Pid, syscall.SIGKILL)
			demo.Wait()
		}
	}()
	url := ""
	lines := bufio.NewScanner(out)
	agents := regexp.MustCompile(`^ *agents +(http://\S+)/mcp$`)
	for url == "" && lines.Scan() {
		if m := agents.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	if url == "" {
		t.Fatalf("the demo does not start: %s", complaints.String())
	}
	drained := make(chan struct{}) // when the last process that writes there has ended
	go func() {
		for lines.Scan() {
		}
		close(drained)
	}()
	const mistaken = `{"status":"PAID","limit":"2"}`
	said := string(output(t, command(t.Context(), "call", "--url", url, "shop__list_orders", "--args", mistaken, "--explain")))
	if !strings.Contains(said, `"status": "paid"`) || !strings.Contains(said, `enum: "PAID" → "paid"`) {
		t.Errorf("the call gives %s", said)
	}
	syscall.Kill(-demo.Process.Pid, syscall.SIGINT) // as a terminal does
	select {
	case <-drained:
	case <-ctx.Done():
		t.Fatal("stopped by Ctrl+C, the demo goes on")
	}
	ended = true
	if err := demo.Wait(); err != nil && filepath.Base(demo.Path) != "npx" { // npx passes on that it was interrupted
		t.Errorf("stopped by Ctrl+C, the demo ends with: %v %s", err, complaints.String())
	}
}

func need(t *testing.T, root, pattern string) {
	t.Helper()
	if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) == 0 { // the pattern is well formed
		t.Errorf("there is no %s", pattern)
	}
}

func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return out
}

func sh(t *testing.T, command ...string) []byte {
	t.Helper()
	return output(t, exec.CommandContext(t.Context(), command[0], command[1:]...))
}
