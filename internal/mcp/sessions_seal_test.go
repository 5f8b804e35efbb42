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

// TestARequestWhoseGatewayIsGoneIsAnswered: clients resume its stream at another gateway, and without an answer
// they wait for long, or give up their session.
func TestARequestWhoseGatewayIsGoneIsAnswered(t *testing.T) {
	a := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k'), Replica: "a"})
	b := newTestFront(t, &SessionsOptions{Cipher: testCipher(t, 'k'), Replica: "b"})
	h := a.open(t, "2025-11-25")
	for id, want := range map[string]string{
		"a.1-0-" + askedAs([]byte(`7`)):       `"id":7,"error"`,
		"a.1-3-" + askedAs([]byte(`"世界-1"`)):  `"id":"世界-1","error"`,
		"b.1-0-" + askedAs([]byte(`-7`)):      `"id":-7,"error"`,
		"1-0-" + askedAs([]byte(`7`)):         `"id":7,"error"`, // of a gateway that was alone
		"a.1-4":                               "404",
		"a.1-0-" + askedAs([]byte(`{"a":1}`)): "404",
		"a.1-0-" + askedAs([]byte(`"7`)):      "404",
		"a.1-0-Nx":                            "404", // not as we write it
		"a.1-0-!":                             "404",
		"a.1-x-" + askedAs([]byte(`7`)):       "404",
	} {
		h["Last-Event-ID"] = id
		got := strings.Join(readAnswer(t, b.do(t, "GET", "", h)), "\n")
		if !strings.Contains(got, want) || want != "404" && !strings.Contains(got, "unknown_outcome") {
			t.Errorf("%s: got %s", id, got)
		}
		_, after, found := strings.Cut(got, "id: ")
		if !found {
			continue
		}
		h["Last-Event-ID"], _, _ = strings.Cut(after, "\n")
		if again := readAnswer(t, b.do(t, "GET", "", h)); !strings.HasPrefix(again[0], "404") {
			t.Errorf("%s: answered again: %s", id, again)
		}
	}
	if askedAs([]byte(`"`+strings.Repeat("x", 100)+`"`)) != "" {
		t.Error("a long id is in the ids of events")
	}
}
