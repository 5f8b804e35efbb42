package console

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

const (
	// flushEvery is how often new rows are sent, and busyEvery when there are more than a few, which nobody could read otherwise.
	flushEvery = 300 * time.Millisecond
	busyEvery  = time.Second
	fewRows    = 10
	// maxRows is how many rows are sent at once, the newest: as many as the list has.
	maxRows = 200
	// keepAlive is how often an empty message is sent when nothing happens.
	keepAlive = 30 * time.Second
	// writeTimeout is how long sending some rows may take.
	writeTimeout = 10 * time.Second
)

// liveCalls sends rows over a WebSocket as calls end. Any site's script could open one, so
// the library compares Origin and Host.
func (c *Console) liveCalls(v *visit) (answer, error) {
	asked := c.callFilterOf(v, "/calls")
	if asked.Fault != nil {
		return answer{}, asked.Fault
	}
	watch, err := c.CallFeed.WatchCalls(v.who, asked.ask) // before the browser knows that it is connected
	if err != nil {
		return answer{}, err
	}
	return serve(func(w http.ResponseWriter) {
		defer watch.Close()
		conn, err := websocket.Accept(w, v.Request, nil)
		if err != nil {
			return // it has replied with the error
		}
		defer conn.CloseNow()
		ctx, cancel := context.WithCancel(conn.CloseRead(context.WithoutCancel(v.Context())))
		rows := &liveRows{console: c, visit: v, asked: asked.ask, conn: conn}
		var sending sync.WaitGroup
		sending.Go(func() {
			defer cancel()
			rows.send(ctx)
		})
		err = watch.Tell(ctx, rows.add)
		cancel()
		sending.Wait()
		if err == nil {
			conn.Close(websocket.StatusGoingAway, "the gateway is going down")
		}
	})
}

// liveRows collects calls and sends them as rows.
type liveRows struct {
	console *Console
	visit   *visit
	asked   url.Values // which calls
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
		l.calls = l.calls[1:]
		l.gap = true
	}
	l.calls = append(l.calls, call)
	return nil
}

type newRows struct {
	Calls []restapi.Call // the newest first
	Gap   bool           // some were dropped
}

func (l *liveRows) take() (n newRows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = newRows{slices.Clone(l.calls), l.gap}
	slices.Reverse(n.Calls)
	l.calls = l.calls[:0]
	l.gap = false
	return n
}

// send sends the collected rows until ctx ends, the browser disconnects or the key is deleted.
func (l *liveRows) send(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for err := l.show(ctx, l.missed(ctx)); err == nil; {
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			err = l.write(ctx, newRows{})
		case <-tick.C:
			if l.locked(ctx) {
				return
			}
			rows := l.take()
			tick.Reset(paceOf(len(rows.Calls)))
			err = l.show(ctx, rows)
		}
	}
}

// paceOf is how long the next rows wait after so many.
func paceOf(rows int) time.Duration {
	if rows > fewRows {
		return busyEvery
	}
	return flushEvery
}

// locked tells whether the person has lost access.
func (l *liveRows) locked(ctx context.Context) bool {
	_, err := l.console.admit(l.visit.Request.WithContext(ctx))
	return fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden)
}

// missed are the calls that ended before the connection was open, which the page may lack.
// Rows that it has already are skipped there.
func (l *liveRows) missed(ctx context.Context) newRows {
	page, err := l.console.Calls.ListCalls(ctx, l.visit.who, l.asked, lookAt)
	if err != nil {
		return newRows{} // the page shows the error when it polls
	}
	return newRows{Calls: page.Calls}
}

func (l *liveRows) show(ctx context.Context, rows newRows) error {
	if len(rows.Calls) == 0 && !rows.Gap {
		return nil
	}
	return l.write(ctx, rows)
}

func (l *liveRows) write(ctx context.Context, rows newRows) error {
	var b bytes.Buffer
	if err := l.console.pages[l.visit.lang]["calls"]().ExecuteTemplate(&b, "new", rows); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, b.Bytes())
}
