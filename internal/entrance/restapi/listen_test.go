package restapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// silent serves a connection on which nothing happens but pings.
func silent(t *testing.T, admit func(context.Context) error) *websocket.Conn {
	t.Helper()
	e := NewEvents(Sources{}, nil)
	e.ping = 10 * time.Millisecond
	ended := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		(&connection{events: e, conn: conn, listener: &listener{heard: make(chan notice)}}).serve(admit)
	}))
	conn, _, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.CloseNow()
		<-ended
		srv.Close()
	})
	return conn
}

func TestConnectionOfADeletedKeyEnds(t *testing.T) {
	var asked atomic.Int32
	conn := silent(t, func(context.Context) error {
		if asked.Add(1) < 3 {
			return nil
		}
		return fault.New(fault.Unauthorized, "deleted")
	})
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("got %v", err)
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestConnectionOutlivesAStoreThatDoesNotAnswer(t *testing.T) {
	asked := make(chan struct{})
	conn := silent(t, func(ctx context.Context) error {
		select {
		case asked <- struct{}{}:
		case <-ctx.Done():
		}
		return context.DeadlineExceeded
	})
	conn.CloseRead(t.Context()) // answers pings
	for range 5 {
		<-asked
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
