//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// placeVariable makes the test binary a program that tries what it should not be able to do.
const placeVariable = "SANDBOX_TEST_PLACE"

func TestMain(m *testing.M) {
	switch text := os.Getenv(placeVariable); text {
	case "":
	case "without Landlock":
		tryWithoutLandlock()
		return
	default:
		var p place
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			panic(err)
		}
		p.tryAll()
		return
	}
	os.Exit(m.Run())
}

// tryWithoutLandlock is a gateway on a system that answers as if it had no Landlock.
func tryWithoutLandlock() {
	runtime.LockOSThread()
	refused = append(refused, unix.SYS_LANDLOCK_CREATE_RULESET)
	if err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), filterCalls(true)); err != nil {
		panic(err)
	}
	cmd := exec.Command("echo", "it ran")
	fmt.Println((&Rules{Net: true}).Confine(cmd, os.TempDir()))
}

// place is where the program finds things.
type place struct {
	Home, Read, Write, TCP, UDP, Unix, Datagrams string
	Parent                                       int
}

// attempts are what the program tries.
var attempts = map[string]func(p place) error{
	"read a secret":        func(p place) error { _, err := os.ReadFile(filepath.Join(p.Home, ".ssh", "id")); return err },
	"read it by a link":    func(p place) error { _, err := os.ReadFile(filepath.Join(p.Write, "link")); return err },
	"list the home":        func(p place) error { _, err := os.ReadDir(p.Home); return err },
	"write a new file":     func(p place) error { return os.WriteFile(filepath.Join(p.Home, "new"), nil, 0o600) },
	"change a file":        func(p place) error { return touch(filepath.Join(p.Home, "old")) },
	"empty a file":         func(p place) error { return os.Truncate(filepath.Join(p.Home, "old"), 0) },
	"remove a file":        func(p place) error { return os.Remove(filepath.Join(p.Home, "old")) },
	"move a file away":     func(p place) error { return os.Rename(filepath.Join(p.Home, "old"), filepath.Join(p.Write, "old")) },
	"link a file":          func(p place) error { return os.Link(filepath.Join(p.Home, "old"), filepath.Join(p.Write, "hard")) },
	"run a file":           func(p place) error { return exec.Command(filepath.Join(p.Home, "run")).Run() },
	"write where it reads": func(p place) error { return touch(filepath.Join(p.Read, "file")) },
	"make a device":        func(p place) error { return unix.Mknod(filepath.Join(p.Write, "null"), unix.S_IFCHR|0o600, 0x103) },
	"see a command line": func(p place) error {
		_, err := os.ReadFile("/proc/" + strconv.Itoa(p.Parent) + "/cmdline")
		return err
	},
	"trace another": func(p place) error { return unix.PtraceSeize(p.Parent) },
	"kill another":  func(p place) error { return unix.Kill(p.Parent, 0) },
	"mount": func(p place) error {
		dir := filepath.Join(p.Read, "mount")
		return errors.Join(unix.Mount("none", dir, "tmpfs", 0, ""), unix.Unmount(dir, 0))
	},
	"use a keyring": func(place) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
	"use io_uring": func(place) error {
		if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); errno != unix.EFAULT {
			return errno
		}
		return nil
	},
	"connect to a socket in the file system": func(p place) error { return dial("unix", p.Unix) },
	"connect to an abstract socket":          func(p place) error { return dial("unix", "@"+filepath.Base(p.Home)) },
	"send from one of a pair of sockets": func(p place) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: p.Datagrams})
	},

	"connect by TCP":   func(p place) error { return dial("tcp", p.TCP) },
	"send by UDP":      func(p place) error { return dial("udp", p.UDP) },
	"make a socket":    func(place) error { return socket(unix.AF_INET, unix.SOCK_STREAM) },
	"use a raw socket": func(place) error { return socket(unix.AF_PACKET, unix.SOCK_RAW) },
	"use vsock":        func(place) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM) },

	"read what is named":  func(p place) error { _, err := os.ReadFile(filepath.Join(p.Read, "file")); return err },
	"write what is named": func(p place) error { return os.WriteFile(filepath.Join(p.Write, "x"), []byte("x"), 0o600) },
	"move within what is named": func(p place) error {
		dir := filepath.Join(p.Write, "dir")
		return errors.Join(os.Mkdir(dir, 0o700), touch(filepath.Join(p.Write, "y")), os.Rename(filepath.Join(p.Write, "y"), filepath.Join(dir, "y")))
	},
	"use a temporary file": func(place) error { _, err := os.CreateTemp("", ""); return err },
	"write to /dev/null":   func(place) error { return os.WriteFile("/dev/null", []byte("x"), 0) },
	"run a shell":          func(place) error { return exec.Command("sh", "-c", "echo x | cat >/dev/null").Run() },
	"use a pair of sockets": func(place) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	},
}

// Which of them fail, by what should prevent them. All others succeed.
var (
	filesFail = []string{
		"read a secret", "read it by a link", "list the home", "write a new file", "change a file", "empty a file", "remove a file",
		"move a file away", "link a file", "run a file", "write where it reads", "make a device", "see a command line", "trace another",
		"kill another", "mount", "use a keyring", "use io_uring", "connect to a socket in the file system", "connect to an abstract socket",
		"send from one of a pair of sockets", "use a raw socket", "use vsock",
	}
	netFails = []string{"connect by TCP", "send by UDP"}
)

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		f.Close()
	}
	return err
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("x"))
	return err
}

func socket(family, kind int) error {
	fd, err := unix.Socket(family, kind, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func (p place) tryAll() {
	failed := map[string]string{}
	for name, try := range attempts {
		if err := try(p); err != nil {
			failed[name] = err.Error()
		}
	}
	json.NewEncoder(os.Stdout).Encode(failed)
}

// needLandlock ends a test where the system has none.
func needLandlock(t *testing.T) {
	t.Helper()
	if _, err := Way(true); err != nil {
		t.Skip(err)
	}
}

// newPlace makes files and sockets that the program finds, and whose owner wants them kept.
func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{Home: filepath.Join(dir, "home"), Read: filepath.Join(dir, "read"), Write: filepath.Join(dir, "write"), Parent: os.Getpid()}
	for _, sub := range []string{filepath.Join(p.Read, "mount"), p.Write, filepath.Join(p.Home, ".ssh")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(p.Home, ".ssh", "id"): "secret", filepath.Join(p.Home, "old"): "old", filepath.Join(p.Home, "run"): "#!/bin/sh\n",
		filepath.Join(p.Read, "file"): "text",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(p.Home, ".ssh", "id"), filepath.Join(p.Write, "link")); err != nil {
		t.Fatal(err)
	}
	p.Unix = filepath.Join(p.Write, "s")
	for network, address := range map[string]string{"unix": p.Unix, "abstract": "@" + filepath.Base(p.Home), "tcp": "127.0.0.1:0"} {
		l, err := net.Listen(strings.Replace(network, "abstract", "unix", 1), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if network == "tcp" {
			p.TCP = l.Addr().String()
		}
	}
	p.Datagrams = filepath.Join(p.Write, "d")
	for network, address := range map[string]string{"udp": "127.0.0.1:0", "unixgram": p.Datagrams} {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if network == "udp" {
			p.UDP = c.LocalAddr().String()
		}
	}
	return p
}

// command is the program that tries everything.
func (p place) command(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"HOME=" + p.Home, "PATH=/usr/bin:/bin", placeVariable + "=" + string(text)}
	cmd.Stderr = os.Stderr
	return cmd
}

func TestAProgramCanUseWhatItWasGivenAndNothingElse(t *testing.T) {
	needLandlock(t)
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	for _, c := range []struct {
		name   string
		net    bool
		filter bool // there are no namespaces
		fails  []string
	}{
		{"with a network", true, false, filesFail},
		{"in an empty network", false, false, slices.Concat(filesFail, netFails)},
		{"without sockets", false, true, slices.Concat(filesFail, netFails, []string{"make a socket"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.filter {
				before := namespaces
				t.Cleanup(func() { namespaces = before })
				namespaces = func() *syscall.SysProcAttr { return nil }
			} else if !c.net && namespaces() == nil {
				t.Skip("this system does not let us make network namespaces")
			}
			p := newPlace(t)
			cmd := p.command(t)
			r := Rules{Read: []string{p.Read}, Write: []string{p.Write}, Net: c.net}
			if err := r.Confine(cmd, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			out, err := cmd.Output()
			var failed map[string]string
			if err != nil || json.Unmarshal(out, &failed) != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for name := range attempts {
				why, refused := failed[name]
				switch want := slices.Contains(c.fails, name); {
				case name == "kill another" && version < 6: // signals are restricted from then on
				case refused != want:
					t.Errorf("%s: refused %v (%s), want %v", name, refused, why, want)
				}
			}
			if text, err := os.ReadFile(filepath.Join(p.Home, "old")); err != nil || string(text) != "old" {
				t.Errorf("a file was changed: %q, %v", text, err)
			}
		})
	}
}

func TestTheSameAttemptsSucceedWithoutASandbox(t *testing.T) {
	p := newPlace(t)
	cmd := p.command(t)
	out, err := cmd.Output()
	var failed map[string]string
	if err != nil || json.Unmarshal(out, &failed) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// What depends on the machine and its user is left out, and what another attempt has moved away.
	mayFail := []string{
		"make a device", "trace another", "mount", "use a keyring", "use io_uring", "use a raw socket", "use vsock",
		"change a file", "empty a file", "remove a file", "move a file away", "link a file",
	}
	for name, why := range failed {
		if !slices.Contains(mayFail, name) {
			t.Errorf("%s: %s", name, why)
		}
	}
}

func TestWithoutLandlockNothingIsStarted(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{placeVariable + "=without Landlock"}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "this system has no Landlock, which a sandbox needs") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestANamedPathMustExist(t *testing.T) {
	needLandlock(t)
	missing := filepath.Join(t.TempDir(), "none")
	for _, r := range []Rules{{Read: []string{missing}}, {Write: []string{missing}}} {
		err := r.Confine(exec.Command("true"), t.TempDir())
		if want := missing + ", which its sandbox names, cannot be used: no such file or directory"; err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
}

func TestALinkThatTheProgramMadeGivesItNothing(t *testing.T) {
	needLandlock(t)
	p := newPlace(t)
	cmd := p.command(t)
	// write/link leads to the secret: a program that can write made it when it ran before.
	r := Rules{Read: []string{p.Read, filepath.Join(p.Write, "link")}, Write: []string{p.Write}, Net: true}
	if err := r.Confine(cmd, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"read it by a link"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAProgramThatCannotBeRunIsToldOnStandardError(t *testing.T) {
	needLandlock(t)
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("\x7fELF no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	if err := (&Rules{Net: true}).Confine(cmd, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("toolfit cannot start the sandbox: %s: exec format error\n", path); err == nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// Some runners of containers give root capabilities that programs inherit, whatever their bounds are.
func TestCapabilitiesThatAreInheritedAreGivenUp(t *testing.T) {
	needLandlock(t)
	if os.Geteuid() != 0 {
		t.Skip("only root has capabilities to give up")
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&head, &caps[0]); err != nil {
		t.Fatal(err)
	}
	for i := range caps {
		caps[i].Inheritable = caps[i].Permitted
	}
	if err := unix.Capset(&head, &caps[0]); err != nil {
		t.Skip(err)
	}
	p := newPlace(t)
	cmd := exec.Command("grep", "CapPrm", "/proc/self/status")
	cmd.Env = []string{"HOME=" + p.Home, "PATH=/usr/bin:/bin"}
	if err := (&Rules{Net: true}).Confine(cmd, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("CapPrm:\t%016x\n", 1<<unix.CAP_DAC_OVERRIDE); err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
