package inbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// dialable reports whether somebody answers on the socket.
func dialable(path string) bool {
	c, err := DialLocal(context.Background(), path)
	if err == nil {
		c.Close()
	}
	return err == nil
}

func TestALocalSocketIsForItsUserAndGoneWhenItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenLocal(path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !FromOwner(r) {
			t.Errorf("a request through the socket comes from %q", r.RemoteAddr)
		}
	})}
	go srv.Serve(l)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return DialLocal(ctx, path)
	}}}
	resp, err := client.Get("http://any/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if info, err := os.Lstat(path); err != nil || CanIdentifySocket && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	srv.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if dialable(path) {
		t.Error("it still answers")
	}
}

func TestNoHeaderMakesARequestTheOwners(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if FromOwner(r) {
			t.Errorf("a request over TCP is the owner's: %v", r.Header)
		}
	}))
	defer srv.Close()
	req, err := http.NewRequest("GET", srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = string(owner)
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Remote-Addr"} {
		req.Header.Set(name, string(owner))
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestASocketInUseIsNotTakenAndALeftOneIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close() // as a killed process leaves it
	first, err := ListenLocal(path)
	if err != nil {
		t.Fatalf("a socket that nobody listens on is in the way: %v", err)
	}
	if _, err := ListenLocal(path); !errors.Is(err, ErrServed) {
		t.Errorf("the second gets %v", err)
	}
	if !dialable(path) {
		t.Error("the first lost its socket")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := ListenLocal(path)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if !dialable(path) {
		t.Error("the end of the first took the socket of the second")
	}
	second.Close()
}

func TestOfManyThatStartAtOnceOneGetsTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if CanIdentifySocket { // elsewhere there is no lock
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		left.SetUnlinkOnClose(false)
		left.Close()
	}
	var mu sync.Mutex
	var got []net.Listener
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if l, err := ListenLocal(path); err == nil {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, l)
			}
		})
	}
	wg.Wait()
	if len(got) != 1 || !dialable(path) {
		t.Errorf("%d have the socket", len(got))
	}
	for _, l := range got {
		l.Close()
	}
}

func TestAFileIsNeverTakenForASocketLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := ListenLocal(path); err == nil {
		l.Close()
		t.Error("it listens")
	}
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("the file holds %q", text)
	}
}

func TestASocketMayHaveALongPath(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long/", 60))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "s")
	l, err := ListenLocal(path)
	if err != nil {
		t.Fatal(err)
	}
	if !dialable(path) {
		t.Error("nobody answers")
	}
	l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left behind: %v", err)
	}
}
