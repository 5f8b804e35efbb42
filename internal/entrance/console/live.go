package console

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

const (
	// flushEvery is how long rows are gathered before they are sent.
	flushEvery = 300 * time.Millisecond
	// maxRows is how many rows are sent at once. Of more, the newest are.
	maxRows = 50
	// stillThere is how often a browser hears that nothing happened.
	stillThere = 30 * time.Second
	// writeLimit is how long a browser may take to take some rows.
	writeLimit = 10 * time.Second
)

// liveCalls sends the rows of calls as they end, over a WebSocket. A browser's own scripts
// could open one from any page, so the library compares Origin and Host.
func (c *Console) liveCalls(v *visit) (answer, error) {
	watch, err := c.Gateway.WatchCalls(v.who, filterOf(v.URL.Query())) // before the browser hears that it listens
	if err != nil {
		return answer{}, err
	}
	return answer{serve: func(w http.ResponseWriter, r *http.Request) {
		defer watch.Close()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // it has answered
		}
		defer conn.CloseNow()
		ctx, cancel := context.WithCancel(conn.CloseRead(context.WithoutCancel(r.Context())))
		rows := &liveRows{console: c, visit: v, conn: conn}
		var sending sync.WaitGroup
		sending.Go(func() { defer cancel(); rows.send(ctx) })
		err = watch.Tell(ctx, rows.add)
		cancel()
		sending.Wait()
		if err == nil {
			conn.Close(websocket.StatusGoingAway, "the gateway is going down")
		}
	}}, nil
}

// liveRows gathers calls and sends them as rows.
type liveRows struct {
	console *Console
	visit   *visit
	conn    *websocket.Conn

	mu    sync.Mutex
	calls []restapi.Call // the oldest first
	gap   bool
}

func (l *liveRows) add(call restapi.Call, gap bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if gap {
		l.gap = true
		return nil
	}
	if len(l.calls) == maxRows {
		l.calls, l.gap = l.calls[1:], true
	}
	l.calls = append(l.calls, call)
	return nil
}

// newRows are rows to put above those that a page has.
type newRows struct {
	Calls []restapi.Call // the newest first
	Gap   bool           // there were more
}

func (l *liveRows) take() (n newRows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.calls) - 1; i >= 0; i-- {
		n.Calls = append(n.Calls, l.calls[i])
	}
	n.Gap, l.calls, l.gap = l.gap, l.calls[:0], false
	return n
}

// send sends what was gathered until ctx ends, the browser is gone or the key is.
func (l *liveRows) send(ctx context.Context) {
	tick, still := time.NewTicker(flushEvery), time.NewTicker(stillThere)
	defer tick.Stop()
	defer still.Stop()
	for err := l.show(ctx, l.missed(ctx)); err == nil; {
		select {
		case <-ctx.Done():
			return
		case <-still.C:
			err = l.write(ctx, newRows{})
		case <-tick.C:
			if l.refused(ctx) {
				return
			}
			err = l.show(ctx, l.take())
		}
	}
}

// refused tells whether the person is no longer let in.
func (l *liveRows) refused(ctx context.Context) bool {
	_, err := l.console.admit(l.visit.Request.WithContext(ctx))
	return fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden)
}

// missed is what ended before the browser listened. Its page may lack some of that: it was
// made before, and what it has already is left out there.
func (l *liveRows) missed(ctx context.Context) newRows {
	page, err := l.console.Gateway.ListCalls(ctx, l.visit.who, filterOf(l.visit.URL.Query()), lookAt)
	if err != nil {
		return newRows{} // the page hears of it when it asks itself
	}
	return newRows{Calls: page.Calls}
}

// show sends rows, when there are any.
func (l *liveRows) show(ctx context.Context, rows newRows) error {
	if len(rows.Calls) == 0 && !rows.Gap {
		return nil
	}
	return l.write(ctx, rows)
}

func (l *liveRows) write(ctx context.Context, rows newRows) error {
	var b bytes.Buffer
	if err := l.console.pages[l.visit.lang]["calls"].ExecuteTemplate(&b, "new", rows); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, b.Bytes())
}
