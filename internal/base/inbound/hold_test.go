package inbound

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// heldPair is a connection that holds back, and its client.
func heldPair(t *testing.T) (c *Conn, client net.Conn) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listen(tcp, nil)
	t.Cleanup(func() { l.Close() })
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return Hold((&http.Request{}).WithContext(ConnContext(context.Background(), conn))), client
}

func TestWhatIsHeldGoesOutWithWhatFollows(t *testing.T) {
	c, client := heldPair(t)
	for _, n := range []int{maxHeld - 1, 1} {
		if got, err := c.Write(bytes.Repeat([]byte("a"), n)); got != n || err != nil {
			t.Fatal(got, err)
		}
	}
	client.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := client.Read(make([]byte, 1)); n > 0 || !os.IsTimeout(err) {
		t.Fatalf("%d bytes came early, %v", n, err)
	}
	client.SetReadDeadline(time.Time{})
	rest := bytes.Repeat([]byte("b"), 4<<20) // more than a socket takes at once
	go func() {
		if n, err := c.Write(rest); n != len(rest) || err != nil {
			t.Error(n, err)
		}
		c.Release()
		c.Close()
	}()
	got, err := io.ReadAll(client)
	if want := append(bytes.Repeat([]byte("a"), maxHeld), rest...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestWhatIsHeldIsNotLost(t *testing.T) {
	c, client := heldPair(t)
	c.Write([]byte("short"))
	c.Release()
	c.Write([]byte(", then more"))
	c.Close()
	if got, err := io.ReadAll(client); string(got) != "short, then more" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
