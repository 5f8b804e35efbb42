package mcp

import (
	"crypto/aes"
	"crypto/cipher"
	"strings"
	"sync"
	"testing"
)

// testCipher is a cipher with a key of one byte, repeated.
func testCipher(t *testing.T, key byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher([]byte(strings.Repeat(string(key), 32)))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}

func TestSessionIsTakenUpByAnyGatewayWithItsKey(t *testing.T) {
	a := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k')})
	b := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k')})
	other := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'x')})
	h := a.open(t, "2025-11-25")
	token := h[sessionHeader]
	status := func(f *testFront, method string, token string, more ...string) int {
		t.Helper()
		header := map[string]string{sessionHeader: token}
		for i := 0; i < len(more); i += 2 {
			header[more[i]] = more[i+1]
		}
		resp := f.do(t, method, ping, header)
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(b, "POST", token); got != 200 {
		t.Fatalf("the other gateway answers %d", got)
	}
	here := a.sessions.get(token, "", "default")
	there := b.sessions.get(token, "", "default")
	if here == there || here.ID != there.ID || here.Version != there.Version || string(here.Capabilities) != string(there.Capabilities) ||
		string(here.Info) != string(there.Info) || len(token) > 400 || strings.Contains(token, here.ID) {
		t.Errorf("%d characters: %+v and %+v", len(token), here, there)
	}
	for name, got := range map[string]int{
		"another key":     status(other, "POST", token),
		"another owner":   status(b, "POST", token, "Test-Owner", "eve"),
		"a changed token": status(b, "POST", token[:20]+"A"+token[21:]),
		"a longer token":  status(b, "POST", token+"AAAA"),
		"nonsense":        status(b, "POST", "☃"),
	} {
		if got != 404 && got != 400 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if got := status(a, "DELETE", token); got != 204 {
		t.Fatal(got)
	}
	if got := status(a, "POST", token); got != 404 {
		t.Errorf("an ended session answers %d", got)
	}
}

func TestSessionIsTakenUpOnce(t *testing.T) {
	a := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k')})
	token := a.open(t, "2025-11-25")[sessionHeader]
	b := NewSessions(&SessionsOptions{Cipher: testCipher(t, 'k')})
	var work sync.WaitGroup
	found := make([]*Session, 50)
	for i := range found {
		work.Go(func() { found[i] = b.get(token, "", "default") })
	}
	work.Wait()
	for _, s := range found {
		if s == nil || s != found[0] {
			t.Fatal("two sessions of one token")
		}
	}
	if b.Len() != 1 {
		t.Errorf("%d sessions", b.Len())
	}
	b.Sweep()
	b.Close()
}

func TestClientThatSaysMuchAboutItselfHasAShortToken(t *testing.T) {
	a := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k')})
	s := &Session{Capabilities: []byte(`{"experimental":"` + strings.Repeat("x", 4000) + `"}`), done: make(chan struct{})}
	if err := a.sessions.add(s, true); err != nil || s.token != s.ID {
		t.Errorf("%d characters, %v", len(s.token), err)
	}
}
