// Package replicas lets the gateways that share a store find each other. Each tells the store that it is
// alive; what only one process can hold, such as the stream of a session, has one of them as its home; and
// a request that belongs to another replica is passed on to it, by one hop.
//
// What only one gateway may do at a time, such as to answer in a chat, it does under a lease, which it
// loses when it dies. That holds for all gateways on a store. One that was not told under which address
// the others reach it has no homes otherwise: nobody asks it, and it tells the store that it is alive
// only while it holds a lease.
//
//	r, err := replicas.New(st, &replicas.Options{URL: "http://10.1.2.3:8420", Key: key, Admit: door.Admit})
//	if err != nil {
//		return err
//	}
//	go r.Run(ctx)
//	defer r.Close()
//	leases := replicas.NewLeases(r)
//	defer leases.Close()
package replicas

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Store is where replicas find each other.
type Store interface {
	BeatReplica(ctx context.Context, r store.Replica) error
	Replicas(ctx context.Context, within time.Duration) ([]store.Replica, error)
	DropHomes(ctx context.Context, replica string) error
	LeaveReplica(ctx context.Context, id string) error
	DropReplica(ctx context.Context, id string) error
	Home(ctx context.Context, h store.Home) (owner string, err error)
	ClaimHome(ctx context.Context, h store.Home, replica, gone string, within time.Duration) (owner string, data []byte, err error)
	StoreHome(ctx context.Context, h store.Home, replica string, data []byte) error
	DropHome(ctx context.Context, h store.Home, replica string) error
	DeadHomes(ctx context.Context, kind string, within time.Duration, limit int) ([]store.Home, error)
}

// Options describe this replica.
type Options struct {
	URL     string                                        // where the others reach it, without a path; "": they do not
	Version string                                        // of the program
	Key     []byte                                        // seals who sent what is passed on; the same for all replicas
	Admit   func(*http.Request) (access.Principal, error) // who sends a request
	Late    func()                                        // told when others may have taken our homes over; nil: nobody is
	Silent  time.Duration                                 // how long one may be silent before it counts as dead; 0: 20 s
	Now     func() time.Time                              // nil: time.Now
	Logger  *slog.Logger                                  // nil: discard
}

// Replicas are this gateway and the others that share its store.
type Replicas struct {
	store     Store
	self      store.Replica
	opts      Options
	cipher    cipher.AEAD
	transport *http.Transport
	leaving   context.Context // ends when our homes are given up
	handOver  context.CancelFunc

	leases  *Leases    // nil: there are none
	looking sync.Mutex // one at a time reads the store
	mu      sync.Mutex // guards what follows, and self.URL
	others  map[string]store.Replica
	looked  time.Time
	beaten  time.Time // our last heartbeat
	away    bool      // the store did not answer the last time
	back    time.Time // when it answered again
	left    bool
}

const (
	lookEvery     = time.Second // how long a list of the others is used
	defaultSilent = 20 * time.Second
	leaveTime     = 3 * time.Second // for each word to the store when we go down
	storeTime     = 3 * time.Second // for the store to answer who is alive
)

// New makes a replica with an id of its own. Run lets the others know of it.
func New(st Store, opts *Options) (*Replicas, error) {
	r := &Replicas{store: st, opts: *opts}
	r.leaving, r.handOver = context.WithCancel(context.Background())
	r.opts.Silent = cmp.Or(r.opts.Silent, defaultSilent)
	r.opts.Logger = cmp.Or(r.opts.Logger, slog.New(slog.DiscardHandler))
	if r.opts.Now == nil {
		r.opts.Now = time.Now
	}
	if r.opts.Late == nil {
		r.opts.Late = func() {}
	}
	r.self = store.Replica{ID: rand.Text()[:10], Version: opts.Version}
	if opts.URL == "" {
		return r, nil
	}
	u, err := url.Parse(opts.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, fault.New(fault.BadConfig, "the replica's address must be such as http://10.1.2.3:8420, without a path")
	}
	if len(opts.Key) == 0 {
		return nil, fault.New(fault.BadConfig, "replicas need TOOLFIT_SECRET_KEY, the same for all").WithHint("make one: openssl rand -hex 32")
	}
	r.self.URL = u.Scheme + "://" + u.Host
	r.cipher = access.NewCipher("forward", opts.Key)
	r.transport = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, DisableCompression: true,
		Protocols: new(http.Protocols), // HTTP/1.1 alone: an answer may be given before its call has ended
	}
	r.transport.Protocols.SetHTTP1(true)
	return r, nil
}

// ID names this replica. It has no punctuation.
func (r *Replicas) ID() string { return r.self.ID }

// Run tells the store that we are alive, now and from time to time, until ctx ends. It also looks for the others, so
// that they are known while the store is away.
func (r *Replicas) Run(ctx context.Context) {
	tick := time.NewTicker(r.opts.Silent / 4)
	defer tick.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	r.tryBeat(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.tryBeat(ctx)
		case <-look.C:
			if r.isAway() {
				r.tryBeat(ctx) // soon: the others take us for dead when the store is back
			}
			r.Others(ctx)
		}
	}
}

func (r *Replicas) tryBeat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	r.answered("other gateways were not told that this one is alive", r.Beat(ctx))
}

// answered notes whether the store answered. The first time that it does not is logged.
func (r *Replicas) answered(what string, err error) {
	if errors.Is(err, context.Canceled) {
		return // by who asked
	}
	r.mu.Lock()
	was := r.away
	r.away = err != nil
	if was && err == nil {
		r.back = r.opts.Now()
	}
	r.mu.Unlock()
	if err != nil && !was {
		r.opts.Logger.Error(what, "error", fault.As(err))
	}
}

func (r *Replicas) isAway() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away
}

// Beat tells the store that we are alive.
func (r *Replicas) Beat(ctx context.Context) error {
	r.mu.Lock()
	self := r.self
	r.mu.Unlock()
	if err := r.store.BeatReplica(ctx, self); err != nil {
		return err
	}
	now := r.opts.Now()
	late := r.silentFor(r.opts.Silent)
	if late && r.leases != nil {
		if err := r.leases.verify(ctx); err != nil {
			return err // then the next one is late too
		}
	}
	r.mu.Lock()
	late = late && !r.beaten.IsZero()
	r.beaten = now
	r.mu.Unlock()
	if late {
		r.opts.Late()
	}
	return nil
}

// silentFor tells whether our last heartbeat was so long ago.
func (r *Replicas) silentFor(d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opts.Now().Sub(r.beaten) >= d
}

// HandOver gives up our homes and the streams that we pass on, so that others get them. What is open here
// can still be reached, until Leave.
func (r *Replicas) HandOver() {
	if r.leaving.Err() != nil {
		return
	}
	r.handOver()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := r.store.DropHomes(ctx, r.self.ID); err != nil {
		r.opts.Logger.Error("sessions were not handed over to other gateways", "error", fault.As(err))
	}
}

// Leave tells the others that we are going down. Our homes are free then, except our leases.
func (r *Replicas) Leave() {
	r.handOver()
	r.mu.Lock()
	left := r.left
	r.left = true
	r.self.URL = ""
	r.mu.Unlock()
	if left {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := r.store.LeaveReplica(ctx, r.self.ID); err != nil {
		r.opts.Logger.Error("other gateways were not told that this one goes down", "error", fault.As(err))
	}
}

// Close takes us from the store and ends the connections to the others.
func (r *Replicas) Close() {
	if r.transport != nil {
		r.transport.CloseIdleConnections()
	}
	r.mu.Lock()
	unheard := r.beaten.IsZero()
	r.beaten = time.Time{}
	r.mu.Unlock()
	if unheard {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := r.store.DropReplica(ctx, r.self.ID); err != nil {
		r.opts.Logger.Error("other gateways were not told that this one is gone", "error", fault.As(err))
	}
}

// Others are the other replicas that are alive, by id. The list is at most a second old; while the store
// cannot be read, it is the last one.
func (r *Replicas) Others(ctx context.Context) map[string]store.Replica {
	if others, fresh := r.known(); fresh {
		return others
	}
	return r.look(ctx, time.Time{})
}

// other is one of the others, which may have come since the last look.
func (r *Replicas) other(ctx context.Context, id string) (store.Replica, bool) {
	asked := r.opts.Now()
	to, there := r.Others(ctx)[id]
	if !there {
		to, there = r.look(ctx, asked)[id]
	}
	return to, there
}

// look reads the others from the store, unless that was done a moment ago, and after the time.
func (r *Replicas) look(ctx context.Context, after time.Time) map[string]store.Replica {
	r.looking.Lock()
	defer r.looking.Unlock()
	others, fresh := r.known()
	if fresh && !after.After(r.looked) {
		return others
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	found, err := r.store.Replicas(ctx, r.opts.Silent)
	r.answered("other gateways not looked for", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = r.opts.Now()
	if err != nil {
		return r.others
	}
	all := make(map[string]store.Replica, len(found))
	if r.looked.Sub(r.back) < r.opts.Silent/4 {
		maps.Copy(all, r.others) // they could not say that they are alive
	}
	for _, one := range found {
		if one.ID != r.self.ID {
			all[one.ID] = one
		}
	}
	r.others = all
	return all
}

func (r *Replicas) known() (others map[string]store.Replica, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.others, !r.looked.IsZero() && r.opts.Now().Sub(r.looked) < lookEvery
}

func home(session string) store.Home { return store.Home{Kind: "session", Key: session} }

// Home is the replica that holds what is kept for a session besides its token: its stream and its
// subscriptions. That is us if no other is, if the other is dead, or if it is gone ("": none is). It is
// also us while the store cannot be written to. When we go down, it is another, if there is one. Held is
// what HoldSession has stored.
func (r *Replicas) Home(ctx context.Context, session, gone string) (replica string, held []byte) {
	claims := r.self.ID
	if r.leaving.Err() != nil {
		claims = r.another(ctx, gone)
	}
	if claims == "" {
		return r.self.ID, nil
	}
	owner, held, err := r.store.ClaimHome(ctx, home(session), claims, gone, r.opts.Silent)
	if err == nil {
		return owner, held
	}
	if ctx.Err() == nil {
		r.opts.Logger.Error("the home of a session not found", "error", fault.As(err))
	}
	return r.self.ID, nil
}

// HoldSession stores what we hold of a session whose home we are, for the next one.
func (r *Replicas) HoldSession(ctx context.Context, session string, held []byte) {
	if err := r.store.StoreHome(ctx, home(session), r.self.ID, held); err != nil && ctx.Err() == nil {
		r.opts.Logger.Error("subscriptions not stored", "error", fault.As(err))
	}
}

// another is one of the others, but not the one that is gone; "": there is none.
func (r *Replicas) another(ctx context.Context, gone string) string {
	for id := range r.Others(ctx) {
		if id != gone {
			return id
		}
	}
	return ""
}

// DropSession lets go of a session that has ended here.
func (r *Replicas) DropSession(ctx context.Context, session string) {
	if err := r.store.DropHome(ctx, home(session), r.self.ID); err != nil && ctx.Err() == nil {
		r.opts.Logger.Error("the home of a session not given up", "error", fault.As(err))
	}
}
