package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestTheSecretIsPrintedAndSent(t *testing.T) {
	w := newWorld(t)
	code, first, stderr := w.run(t, "secret")
	if code != 0 || !strings.HasPrefix(first, "tfl_") {
		t.Fatalf("secret: %d %q %s", code, first, stderr)
	}
	if _, again, _ := w.run(t, "secret"); again != first {
		t.Errorf("the second time it is %q, not %q", again, first)
	}
	var sent atomic.Pointer[string]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		sent.Store(&header)
		w.Write([]byte(`{"tools":[]}`))
	})}
	go srv.Serve(l)
	defer srv.Close()
	w.run(t, "tools", "--url", "http://"+l.Addr().String())
	if got := sent.Load(); got == nil || *got != "Bearer "+strings.TrimSpace(first) {
		t.Errorf("a command sent %v", got)
	}
	w.vars["TOOLFIT_KEY"] = "tf_key"
	w.run(t, "tools", "--url", "http://"+l.Addr().String())
	if got := sent.Load(); *got != "Bearer tf_key" {
		t.Errorf("with a key a command sent %q", *got)
	}
}

// TestServeAsAnotherUser is the other user's program of the test below.
func TestServeAsAnotherUser(t *testing.T) {
	if os.Getenv("SERVE_AS_ANOTHER") == "" {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("PORT", l.Addr().(*net.TCPAddr).Port)
	http.Serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fmt.Println("GOT", r.Header) }))
}

// TestTheSecretGoesToNobodyElse lets another user serve the port where a gateway was.
func TestTheSecretGoesToNobodyElse(t *testing.T) {
	w := newWorld(t)
	w.run(t, "secret")
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestServeAsAnotherUser$")
	cmd.Env, cmd.Dir = []string{"SERVE_AS_ANOTHER=1"}, "/"
	testparts.AsNobody(t, cmd)
	out := &safeBuffer{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	port := 0
	for until := time.Now().Add(patience); port == 0; time.Sleep(time.Millisecond) {
		if _, err := fmt.Sscanf(out.String(), "PORT %d\n", &port); err != nil && time.Now().After(until) {
			t.Fatal("the other user does not serve")
		}
	}
	url := fmt.Sprintf("http://localhost:%d", port)
	code, _, stderr := w.run(t, "tools", "--url", url)
	if code != 1 || !strings.Contains(stderr, "another user") {
		t.Errorf("%d %s", code, stderr)
	}
	if strings.Contains(out.String(), "GOT") {
		t.Errorf("the other user got a request: %s", out.String())
	}
}

func TestWhereTheSecretIsKept(t *testing.T) {
	home := filepath.FromSlash("/home/ann")
	abs := filepath.FromSlash("/state")
	if runtime.GOOS == "windows" {
		home, abs = `C:\Users\ann`, `C:\state`
	}
	for _, c := range []struct {
		system, home string
		vars         map[string]string
		want         string
	}{
		{"linux", home, nil, filepath.Join(home, ".local", "state", "toolfit")},
		{"linux", home, map[string]string{"XDG_STATE_HOME": abs}, filepath.Join(abs, "toolfit")},
		{"linux", home, map[string]string{"XDG_STATE_HOME": "relative"}, filepath.Join(home, ".local", "state", "toolfit")},
		{"darwin", home, nil, filepath.Join(home, "Library", "Application Support", "toolfit")},
		{"windows", home, map[string]string{"LOCALAPPDATA": abs}, filepath.Join(abs, "toolfit")},
		{"linux", "", nil, ""},
	} {
		env := &Env{Home: c.home, Lookup: func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok }}
		if got := stateFolder(c.system, env); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.system, c.vars, got, c.want)
		}
	}
}
