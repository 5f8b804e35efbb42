package restapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// maxHeard limits the size of a client's message.
	maxHeard = 16 << 10
	// callBuffer is how many calls are buffered for a slow client.
	callBuffer = 256
	// writeLimit is how long writing one event may take.
	writeLimit = 10 * time.Second
	// pingEvery and admitEvery are how often a client and its key are checked.
	pingEvery  = 30 * time.Second
	admitEvery = time.Second
)

// events is the WebSocket. The door has checked Host and Origin.
func (a *API) events(q *request) (any, error) {
	l, err := a.Events.join(q.who.ID)
	if err != nil {
		return nil, err
	}
	return stream(func(w http.ResponseWriter) {
		defer a.Events.leave(l)
		a.listen(w, q, l)
	}), nil
}

func (a *API) listen(w http.ResponseWriter, q *request, l *listener) {
	r := q.Request
	conn, err := websocket.Accept(onlyUpgrade{w}, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		for _, name := range []string{"Connection", "Upgrade"} {
			w.Header().Del(name)
		}
		a.fail(w, r, fault.New(fault.BadRequest, "this is a WebSocket, and the request does not open one").
			WithHint("send Connection: Upgrade, Upgrade: websocket and what belongs to them"))
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxHeard)
	c := &connection{events: a.Events, conn: conn, who: q.who, listener: l}
	c.serve(func(ctx context.Context) error { // the request's own context ends with the handshake
		_, err := a.Admit(r.WithContext(ctx))
		return err
	})
}

// onlyUpgrade suppresses the library's error answers, so that ours are sent.
type onlyUpgrade struct{ http.ResponseWriter }

func (w onlyUpgrade) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w onlyUpgrade) Write(b []byte) (int, error) { return len(b), nil }

func (w onlyUpgrade) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// connection is one listening client. Only serve writes events.
type connection struct {
	events   *Events
	conn     *websocket.Conn
	who      access.Principal
	listener *listener

	seq    int64
	topics map[string]bool // nil before the first subscription
	filter eventFilter
	calls  <-chan store.Call // nil unless subscribed to
	unsub  func()
}

// eventFilter selects events; zero fields match all.
type eventFilter struct {
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"` // canonical
}

// serve sends events until the client leaves, loses access, or the gateway stops.
func (c *connection) serve(admit func(context.Context) error) {
	ctx, cancel := context.WithCancel(c.events.ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	c.unsub = func() {}
	defer func() { c.unsub() }()
	heard := make(chan []byte, 8)
	work.Go(func() { c.read(ctx, heard) })
	work.Go(func() { c.watch(ctx, cancel, admit) })
	for {
		var err error
		select {
		case <-c.events.closing:
			c.conn.Close(websocket.StatusGoingAway, "the gateway is going down")
			return
		case message, ok := <-heard:
			if !ok {
				return
			}
			if message == nil {
				c.conn.Close(websocket.StatusUnsupportedData, "messages are text")
				return
			}
			err = c.hear(ctx, message)
		case call, ok := <-c.calls:
			if !ok {
				return // the record log has ended
			}
			err = c.tellCall(ctx, call)
			c.events.records.Drained(c.calls)
		case <-c.listener.wake: // something was lost
		case h := <-c.listener.heard:
			if data, ok := h.show(c); ok && c.topics[h.topic] { // it may have unsubscribed meanwhile
				err = c.send(ctx, h.topic, h.at, data)
			}
		}
		if n := c.listener.lost.Swap(0); err == nil && n > 0 {
			err = c.tellGap(ctx, n)
		}
		if err != nil {
			return
		}
	}
}

// read passes on the client's messages, nil for binary ones, and closes the channel at the end.
func (c *connection) read(ctx context.Context, heard chan<- []byte) {
	defer close(heard)
	for {
		kind, message, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			message = nil
		}
		select {
		case heard <- message:
		case <-ctx.Done():
			return
		}
	}
}

// watch ends the connection when the client or its key is gone.
func (c *connection) watch(ctx context.Context, cancel context.CancelFunc, admit func(context.Context) error) {
	ping := time.NewTicker(c.events.ping)
	defer ping.Stop()
	look := time.NewTicker(admitEvery)
	defer look.Stop()
	for {
		due := false
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case <-ping.C:
			due = true
		}
		if err := admit(ctx); fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden) {
			c.conn.Close(websocket.StatusPolicyViolation, "no longer let in")
			return
		}
		if !due {
			continue
		}
		pong, stop := context.WithTimeout(ctx, writeLimit)
		err := c.conn.Ping(pong)
		stop()
		if err != nil {
			cancel()
			return
		}
	}
}

func (c *connection) send(ctx context.Context, kind string, at time.Time, data any) error {
	c.seq++
	text, err := json.Marshal(Event{Type: kind, At: at, Seq: c.seq, Data: data})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageText, text)
}

// hear handles a subscription, which replaces the previous one. An invalid one changes nothing.
func (c *connection) hear(ctx context.Context, message []byte) error {
	var in struct {
		Type   string      `json:"type"`
		Topics []string    `json:"topics"` // empty: all
		Filter eventFilter `json:"filter"`
	}
	var wrong *fault.Error
	if err := decode(message, &in); err != nil {
		wrong = fault.New(fault.BadRequest, "the message must be {\"type\": \"subscribe\", \"topics\": […], \"filter\": {…}}: %w", err)
	} else if in.Type != "subscribe" {
		wrong = fault.New(fault.BadRequest, "unknown type %q", in.Type).WithHint("send subscribe")
	}
	for _, t := range in.Topics {
		if wrong == nil && !slices.Contains(topics, t) {
			wrong = fault.New(fault.BadRequest, "unknown topic %q", t).WithHint("use %s", strings.Join(topics, ", "))
		}
	}
	if wrong != nil {
		return c.send(ctx, "error", c.events.now(), wrong)
	}
	if len(in.Topics) == 0 {
		in.Topics = topics
	}
	c.subscribe(in.Topics, in.Filter)
	return c.send(ctx, "subscribed", c.events.now(), map[string]any{"topics": in.Topics, "filter": in.Filter})
}

func (c *connection) subscribe(wanted []string, filter eventFilter) {
	c.topics = map[string]bool{}
	c.filter = filter
	for _, t := range wanted {
		c.topics[t] = true
	}
	c.events.want(c.listener, c.topics)
	switch {
	case c.topics[callFinished] && c.calls == nil:
		c.calls, c.unsub = c.events.records.Subscribe(callBuffer)
	case !c.topics[callFinished] && c.calls != nil:
		c.unsub()
		c.calls = nil
		c.unsub = func() {}
	}
}

func (c *connection) tellCall(ctx context.Context, call store.Call) error {
	if n, gap := record.Lost(call); gap {
		return c.tellGap(ctx, n)
	}
	if !c.wantsCall(call) {
		return nil
	}
	return c.send(ctx, callFinished, call.At.Add(call.Duration), showCall(call, c.who))
}

// wantsCall tells whether the client may see a call, and subscribed to it.
func (c *connection) wantsCall(call store.Call) bool {
	return c.owns(call.Principal) && c.filter.matches(string(call.Server), string(call.Tool))
}

func (f eventFilter) matches(server, tool string) bool {
	return (f.Server == "" || f.Server == server) && (f.Tool == "" || f.Tool == tool)
}

// tellGap says that events were missed. Callers are not told how many: most may be others'.
func (c *connection) tellGap(ctx context.Context, n int64) error {
	if !c.who.MayRead() {
		return c.send(ctx, "gap", c.events.now(), struct{}{})
	}
	return c.send(ctx, "gap", c.events.now(), map[string]int64{"lost": n})
}
