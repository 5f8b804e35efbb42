package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Change names what somebody else has changed: a row of a table, with Key "" any row of it, or, if it is
// zero, anything.
type Change struct{ Table, Key string }

const (
	gatherTime = 20 * time.Millisecond // how long changes are gathered before they are passed on
	maxKeys    = 1000                  // of one table that are passed on one by one
	tellAgain  = time.Second           // the pause after changes that could not be followed

	versionEvery = time.Second / 2  // how often SQLite is asked whether others have written: a deleted key works for a second at most
	keysEvery    = time.Second / 2  // how often keys may have changed in a PostgreSQL that does not tell
	pollEvery    = 5 * time.Second  // how often anything may have
	checkEvery   = 15 * time.Second // the same in one that does: a message may be lost with its connection
	wantedTime   = 30 * time.Second // how long others tell what is only told to those who want it
)

// Follow passes on what other processes change in the store, until ctx ends: at once where PostgreSQL
// tells it, else within seconds. What comes quickly is passed on together, each change once, in the order
// in which they were made. After an error of follow, anything may have changed.
func (s *Store) Follow(ctx context.Context, follow func([]Change) error) {
	n := &news{wake: make(chan struct{}, 1), known: map[Change]bool{}, keys: map[string]int{}}
	n.add(Change{}) // what was read before may be old by now
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { s.dialect.look(s, ctx, n) })
	if s.direct != nil {
		work.Go(func() { s.listen(ctx, n) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		if !sleep(ctx, gatherTime) {
			return
		}
		if err := follow(n.take()); err != nil {
			sleep(ctx, tellAgain)
			n.add(Change{})
		}
	}
}

// news are changes that were not passed on yet.
type news struct {
	wake chan struct{}

	mu    sync.Mutex
	list  []Change
	known map[Change]bool
	keys  map[string]int // how many of each table
}

func (n *news) add(c Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keys[c.Table] >= maxKeys {
		c.Key = ""
	}
	if n.known[c] {
		return
	}
	n.known[c] = true
	n.keys[c.Table]++
	n.list = append(n.list, c)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *news) take() []Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	clear(n.known)
	clear(n.keys)
	return list
}

// sleep returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// lookSQLite asks for the version of the data. On the connection that writes it changes only by what
// other processes write.
func lookSQLite(s *Store, ctx context.Context, n *news) {
	var last int64
	for {
		var version int64
		err := s.write.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
		if err == nil && version != last { // after an error, what reads or writes next says why
			last = version
			n.add(Change{})
		}
		if !sleep(ctx, versionEvery) {
			return
		}
	}
}

// lookPostgres looks at everything now and then, and at the keys often while nobody tells that one was deleted.
func lookPostgres(s *Store, ctx context.Context, n *news) {
	for looked := time.Now(); sleep(ctx, keysEvery); {
		every := pollEvery
		if s.Listening() {
			every = checkEvery
		} else {
			n.add(Change{Table: KeysTable})
		}
		if time.Since(looked) >= every {
			looked = time.Now()
			n.add(Change{})
		}
	}
}

// Listening tells whether changes of others are told at once.
func (s *Store) Listening() bool { return s.hears.Load() }

// listenerName is added to the application's name, so that administrators can tell the connection from others.
const listenerName = " listener"

// errGaveWay ends a connection whose place others need more.
var errGaveWay = errors.New("the connection is needed elsewhere")

// listen hears changes on a connection of its own, and makes another one when that is lost.
func (s *Store) listen(ctx context.Context, n *news) {
	var was error
	for ctx.Err() == nil {
		heard, err := s.listenOnce(ctx, n)
		s.hears.Store(false)
		if ctx.Err() != nil {
			return
		}
		if was == nil || heard {
			s.opts.Logger.Info("changes of other gateways are not told at once for a while", "error", fault.As(s.explain("listen", err)))
		}
		was = err
		pause := tellAgain
		if errors.Is(err, errGaveWay) || acceptsNoMore(err) {
			pause = narrowTime
		}
		sleep(ctx, pause)
	}
}

// listenOnce hears changes until the connection is lost. Heard: there was one.
func (s *Store) listenOnce(ctx context.Context, n *news) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.hangUp.Store(&cancel)
	conn, err := pgx.ConnectConfig(ctx, s.direct)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var channel string
	if err := conn.QueryRow(ctx, "SELECT "+ourChannel).Scan(&channel); err != nil {
		return false, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return false, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_notify("+ourChannel+", '"+JoinedTable+"')"); err != nil {
		return false, err
	}
	s.hears.Store(true)
	n.add(Change{}) // what was told before we listened
	for {
		wait, stop := context.WithTimeout(ctx, checkEvery)
		told, err := conn.WaitForNotification(wait)
		stop()
		switch {
		case context.Cause(ctx) != nil:
			return true, context.Cause(ctx)
		case err == nil:
			s.told(n, told.PID, told.Payload)
		case wait.Err() == nil:
			return true, err
		default:
			check, stop := context.WithTimeout(ctx, callerTimeout)
			err = conn.Ping(check)
			stop()
			if err != nil {
				return true, err
			}
		}
	}
}

// told takes in what a session of the database tells. Our own are no news.
func (s *Store) told(n *news, session uint32, message string) {
	if _, ours := s.sessions.Load(session); ours {
		return
	}
	table, key, _ := strings.Cut(message, " ")
	if table == wantedTable {
		s.want(strings.Fields(key))
		return
	}
	n.add(Change{table, decodeText(key)})
}

// giveWay closes the connection that listens, for a while: other statements have none.
func (s *Store) giveWay() {
	if hangUp := s.hangUp.Load(); hangUp != nil {
		(*hangUp)(errGaveWay)
	}
}

// ourChannel is the name of the channel on which changes are told, as SQL; the migration has it too.
const ourChannel = "'toolfit_' || (hashtext(current_schema())::bigint + 2147483648)"

// wantedTable is what a gateway changes that wants to hear of what is told only then.
const wantedTable = "wanted"

// JoinedTable is what changes when a gateway begins to listen: it does not know yet what others want.
const JoinedTable = "joined"

// Want makes the others tell us of topics for half a minute that they tell only to those who want it.
func (s *Store) Want(ctx context.Context, topics ...string) error {
	return s.Tell(ctx, Change{wantedTable, strings.Join(topics, " ")})
}

// want notes what another gateway wants.
func (s *Store) want(topics []string) {
	until := s.opts.Now().Add(wantedTime)
	wanted := map[string]time.Time{}
	if old := s.wanted.Load(); old != nil {
		maps.Copy(wanted, *old)
	}
	for _, topic := range topics {
		wanted[topic] = until
	}
	s.wanted.Store(&wanted)
}

// Wanted tells whether another gateway wants to hear of a topic. It costs next to nothing.
func (s *Store) Wanted(topic string) bool {
	wanted := s.wanted.Load()
	return wanted != nil && s.opts.Now().Before((*wanted)[topic])
}

// Tell tells the others of changes that no table has. It does nothing where changes are not told.
func (s *Store) Tell(ctx context.Context, changes ...Change) error {
	if !s.Listening() || len(changes) == 0 {
		return nil
	}
	messages := make([]string, len(changes))
	for i, c := range changes {
		messages[i] = c.Table + " " + encodeText(c.Key)
	}
	_, err := s.exec(ctx, "SELECT pg_notify("+ourChannel+", told) FROM unnest($1::text[]) AS told", messages)
	return s.explain("tell other gateways", err)
}

// KeysTable is what changes when keys are made, rotated or deleted.
const KeysTable = "keys"

// CallsTable is what changes when calls are recorded, and the topic of those who want to hear of it. The
// database commits only one transaction at a time that tells something, so that nobody else is told.
const CallsTable = "calls"

// MaxTold is how long the Key of a Change may be to be told.
const MaxTold = 7900

// tellIDs is how calls are told: by their ids, as many as there is room for, and how many there are more.
func tellIDs(ids []string) string {
	var b strings.Builder
	for i, id := range ids {
		if b.Len()+len(id) > MaxTold-50 {
			fmt.Fprintf(&b, "+%d", len(ids)-i)
			break
		}
		b.WriteString(id + " ")
	}
	return b.String()
}

// ToldCalls are the calls that a change of the table calls is about, and how many there are more.
func ToldCalls(c Change) (ids []string, more int) {
	for _, id := range strings.Fields(c.Key) {
		if n, found := strings.CutPrefix(id, "+"); found {
			more, _ = strconv.Atoi(n) // written by us
			continue
		}
		ids = append(ids, id)
	}
	return ids, more
}
