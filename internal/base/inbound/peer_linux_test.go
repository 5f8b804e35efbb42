package inbound

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestMain lets the test start itself as another user.
func TestMain(m *testing.M) {
	if at := os.Getenv("INBOUND_DIAL"); at != "" {
		c, err := net.Dial("tcp", at)
		if err != nil {
			os.Exit(1)
		}
		io.Copy(io.Discard, c) // until the other end closes
		os.Exit(0)
	}
	if path := os.Getenv("INBOUND_SOCKET"); path != "" {
		visit(path)
		os.Exit(0)
	}
	if path := os.Getenv("INBOUND_LISTEN"); path != "" {
		l, err := net.Listen("unix", path)
		if err != nil {
			os.Exit(1)
		}
		os.Chmod(path, 0o666)
		os.Stdout.WriteString("listening\n")
		l.Accept()
		io.Copy(io.Discard, os.Stdin) // until the test ends
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// visit says hello on a socket and prints what comes back.
func visit(path string) {
	c, err := net.Dial("unix", path)
	if err != nil {
		os.Stdout.WriteString("no connection: " + err.Error())
		return
	}
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	io.Copy(os.Stdout, c)
}

// openFolder is a folder that every user may use.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "inbound")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestAnotherUserIsNotServedOnTheSocket(t *testing.T) {
	path := filepath.Join(openFolder(t), "s")
	l, err := ListenLocal(path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.NotFoundHandler()}
	go srv.Serve(l)
	defer srv.Close()
	for _, mode := range []os.FileMode{0o600, 0o666} { // the mode keeps others out; without it the system's word does
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe")
		cmd.Env, cmd.Dir = []string{"INBOUND_SOCKET=" + path}, "/"
		testparts.AsNobody(t, cmd)
		if out, err := cmd.Output(); err != nil || strings.Contains(string(out), "HTTP") {
			t.Errorf("mode %v: another user gets %q, %v", mode, out, err)
		}
	}
}

func TestNothingIsSaidToAnotherUsersSocket(t *testing.T) {
	path := filepath.Join(openFolder(t), "s")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.Dir = []string{"INBOUND_LISTEN=" + path}, "/"
	testparts.AsNobody(t, cmd)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	bufio.NewReader(out).ReadString('\n')
	if c, err := DialLocal(t.Context(), path); err == nil {
		c.Close()
		t.Error("the socket of another user is taken for ours")
	}
	if l, err := ListenLocal(path); err == nil || errors.Is(err, ErrServed) {
		t.Errorf("listener %v, %v", l, err)
	}
}

func TestAnotherUserIsToldApart(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"INBOUND_DIAL=" + tcp.Addr().String()}
	cmd.Dir = "/"
	testparts.AsNobody(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	conn, err := tcp.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := peer(conn.LocalAddr().String(), conn.RemoteAddr().String()); got != OtherUser {
		t.Errorf("another user is %v", got)
	}
}
