package restapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// eventsTable is what changes when something happens that is in no table.
const eventsTable = "events"

const (
	wantEvery = 10 * time.Second // how often other gateways are told what listeners want
	hearTime  = time.Second      // how long they may take to hear it
	toSend    = 256              // how many events may wait to be told
	sendMost  = 32               // how many are told at once
	lastCalls = 256              // how many calls are looked at for new ones
)

// others are the other gateways that share the store. They tell us what our listeners want to hear, and we tell them.
type others struct {
	store atomic.Pointer[store.Store] // nil: nothing is shared
	queue chan store.Change
	lost  atomic.Int64  // what there was no room for in the queue
	wake  chan struct{} // listeners want something else
	calls atomic.Bool   // listeners hear of the calls of others
}

func newOthers() *others {
	return &others{queue: make(chan store.Change, toSend), wake: make(chan struct{}, 1)}
}

func (o *others) changed() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// want tells whether another gateway has listeners to a topic.
func (o *others) want(topic string) bool {
	st := o.store.Load()
	return st != nil && st.Wanted(topic)
}

// told is an event as gateways tell it each other.
type told struct {
	Topic  string          `json:"topic"`
	At     time.Time       `json:"at"`
	Owner  string          `json:"owner,omitempty"` // who may see it besides those who may see everything
	Server string          `json:"server,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// show shows the event to those who may see it and want it.
func (t told) show(data any) func(c *connection) (any, bool) {
	return func(c *connection) (any, bool) {
		if t.Topic == callStarted && !c.filter.matches(t.Server, t.Tool) {
			return nil, false
		}
		return data, c.owns(t.Owner)
	}
}

// publishAll tells all listeners here, and other gateways for theirs. It never blocks.
func (e *Events) publishAll(t told, data any) {
	e.publish(t.Topic, t.At, t.show(data))
	if !e.others.want(t.Topic) {
		return
	}
	text, err := json.Marshal(data)
	if err == nil {
		t.Data = text
		text, err = json.Marshal(t)
	}
	if err != nil || len(text) > store.MaxTold {
		e.others.lost.Add(1)
		return
	}
	select {
	case e.others.queue <- store.Change{Table: eventsTable, Key: string(text)}:
	default:
		e.others.lost.Add(1)
	}
}

// Share exchanges events with the other gateways that share the store, until ctx ends: each tells only what
// somebody listens to elsewhere.
func (e *Events) Share(ctx context.Context, st *store.Store) {
	e.others.store.Store(st)
	tick := time.NewTicker(wantEvery)
	defer tick.Stop()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-e.others.queue:
			e.send(ctx, st, c)
		case <-e.others.wake:
			e.listen(ctx, st)
			late = time.After(hearTime)
		case <-late:
			late = nil
			e.newCalls(ctx, st) // what was recorded before the others knew that we listen
		case <-tick.C:
			e.listen(ctx, st)
		}
	}
}

// send tells the others an event and those that wait behind it. Nobody waits for them: what cannot be told is lost.
func (e *Events) send(ctx context.Context, st *store.Store, c store.Change) {
	all := []store.Change{c}
	for len(all) < sendMost && len(e.others.queue) > 0 {
		all = append(all, <-e.others.queue)
	}
	if n := e.others.lost.Swap(0); n > 0 {
		all = append(all, store.Change{Table: eventsTable, Key: "+" + strconv.FormatInt(n, 10)})
	}
	if st.Tell(ctx, all...) != nil {
		e.others.lost.Add(int64(len(all)))
	}
}

// listen tells the others what somebody listens to here.
func (e *Events) listen(ctx context.Context, st *store.Store) {
	wanted := e.wanted()
	i := slices.Index(wanted, callFinished)
	if i >= 0 && !e.others.calls.Load() {
		calls, err := st.Calls(ctx, store.CallFilter{Limit: lastCalls})
		e.records.Hear(calls, 0, true)
		e.others.calls.Store(err == nil)
	}
	if i < 0 {
		e.others.calls.Store(false)
	} else {
		wanted[i] = store.CallsTable
	}
	if len(wanted) > 0 {
		st.Want(ctx, wanted...) // the next time comes soon
	}
}

// wanted are the topics that somebody listens to here.
func (e *Events) wanted() (wanted []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, topic := range topics {
		for l := range e.listeners {
			if l.wantsTo(topic) {
				wanted = append(wanted, topic)
				break
			}
		}
	}
	return wanted
}

// newCalls tells listeners of calls that other gateways have recorded lately.
func (e *Events) newCalls(ctx context.Context, st *store.Store) error {
	if !e.others.calls.Load() {
		return nil
	}
	calls, err := st.Calls(ctx, store.CallFilter{Limit: lastCalls})
	slices.Reverse(calls)
	e.records.Hear(calls, 0, false)
	return err
}

// Follow tells listeners what has happened at other gateways.
func (e *Events) Follow(ctx context.Context, st *store.Store, c store.Change) error {
	switch c.Table {
	case "":
		return e.newCalls(ctx, st)
	case store.JoinedTable:
		e.others.changed()
	case eventsTable:
		e.hear(c.Key)
	case store.CallsTable:
		if !e.others.calls.Load() {
			return nil
		}
		ids, more := store.ToldCalls(c)
		if len(ids) == 0 {
			return e.newCalls(ctx, st)
		}
		calls, err := st.CallsByID(ctx, ids)
		e.records.Hear(calls, more, false)
		return err
	}
	return nil
}

// hear tells listeners an event of another gateway.
func (e *Events) hear(message string) {
	var t told
	if json.Unmarshal([]byte(message), &t) == nil && t.Topic != "" {
		e.publish(t.Topic, t.At, t.show(t.Data))
		return
	}
	lost, _ := strconv.ParseInt(strings.TrimPrefix(message, "+"), 10, 64) // "" if there were too many
	e.mu.Lock()
	defer e.mu.Unlock()
	for l := range e.listeners {
		l.lost.Add(max(lost, 1))
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}
