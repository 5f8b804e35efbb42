// Package catalog knows which tools there are. It stores the servers' lists, so that lists
// are served before any server is up, and renders each profile's list once. It never calls a tool, and a server that is down keeps its last
// good list.
//
//	view, err := cat.View("default")
//	entry, err := view.Find("files__read_file")
package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/schema"
)

// Lister reads lists from servers.
type Lister interface {
	List(ctx context.Context, id tool.ServerID) (upstream.Listing, error)
	Recognize(id tool.ServerID, known upstream.Listing)
}

// Keeper stores what was listed.
type Keeper interface {
	Servers(ctx context.Context) ([]store.Server, error)
	Server(ctx context.Context, id tool.ServerID) (store.Server, error) // one that is not stored has only its id
	SaveTools(ctx context.Context, s store.Server) error
	SaveCheck(ctx context.Context, id tool.ServerID, at time.Time, reason string) error
	Decide(ctx context.Context, id tool.ServerID, decisions []store.Decision) error // nothing else changes decisions
}

// Catalog is the current state of all lists. Reading it takes no lock.
type Catalog struct {
	lister Lister
	keeper Keeper
	opts   Options
	kinds  []*fit.Known // servers known without any configuration
	views  atomic.Pointer[map[string]*View]

	writing sync.Mutex // one change at a time is stored and then served; taken before mu

	mu      sync.Mutex
	config  *config.Config
	plans   *schema.Cache  // of the tools' schemas; outlives the views
	rules   *project.Rules // of the configuration
	policy  *policy.Set    // of the configuration; nil: no rules
	servers map[tool.ServerID]*known
	framed  bool
	frames  []*frame // of the configuration's profiles; only if framed
	joiner  joiner
	sources struct { // what the servers' sources are made with
		kinds []*fit.Known
		own   map[string]bool
	}
	pending  []*known                    // listed, or not, since the views were made
	since    time.Time                   // when the first of pending was
	latest   time.Time                   // when the last of pending was
	listing  int                         // how many servers are being listed by Run
	due      map[tool.ServerID]time.Time // to be listed as soon as possible, unless another gateway has listed it since
	wake     chan struct{}
	watchers sync.WaitGroup
	allTried atomic.Bool // no client waits for a first list of any server; written with mu held
}

// Options change a Catalog. The zero value is usable.
type Options struct {
	// Turn lets one gateway at a time list a server; false: another does so now. Nil: there are no others.
	Turn    func(ctx context.Context, id tool.ServerID) (end func(), ok bool)
	Changed func(profile, kind string) // called when a profile's list of "tools", "prompts" or "resources" has changed
	Self    json.RawMessage            // our own serverInfo for modern lists; nil: left out
	Own     OwnTools                   // our own tools; those left out are not listed
	Redact  func(string) string        // removes secrets from reasons before they are stored; may be nil
	Logger  *slog.Logger               // nil: discard
	Now     func() time.Time           // nil: time.Now
}

// known is what the catalog knows about one server.
type known struct {
	cfg       config.Server
	offer     upstream.Listing // its last list; without Notes after a restart
	held      map[pin]hold     // the items of offer that are held
	scans     scans            // of offer, or of an earlier one
	privateTo string           // digest of the credentials that a private offer belongs to
	stamp     store.Stamp      // of the store's row when it was last read
	version   int              // of what callers see of it
	source    *source          // of the version made; nil: not made yet
	made      int
	taken     map[string]taken // by the tool's name
	listedAt  time.Time
	checkedAt time.Time
	reason    string
	failures  int
	retryAt   time.Time
	followed  time.Time     // when another gateway listed what we have of it; zero: we did
	told      time.Time     // since when it was due when its refresh began; zero: nobody said so
	notBefore time.Time     // another gateway lists it
	listing   bool          // a refresh is under way
	asked     int           // how many list requests were sent
	answered  int           // the number of the request that the list answers
	tried     chan struct{} // closed after the first attempt to list, or when a stored list exists
}

// New loads what the store has. Apply says which servers and profiles there are.
func New(ctx context.Context, lister Lister, keeper Keeper, opts *Options) (*Catalog, error) {
	c := &Catalog{
		lister: lister, keeper: keeper, kinds: fit.Builtin(),
		servers: map[tool.ServerID]*known{}, due: map[tool.ServerID]time.Time{}, wake: make(chan struct{}, 1),
	}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Changed == nil {
		c.opts.Changed = func(string, string) {}
	}
	if c.opts.Redact == nil {
		c.opts.Redact = func(s string) string { return s }
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.views.Store(&map[string]*View{})
	c.rules, _ = project.Compile(nil)
	rows, err := keeper.Servers(ctx)
	if err != nil {
		return nil, fmt.Errorf("load catalog: %w", err)
	}
	for _, row := range rows {
		c.servers[row.ID] = c.fromRow(row)
	}
	return c, nil
}

func (c *Catalog) fromRow(row store.Server) *known {
	k := &known{
		cfg: config.Server{ID: row.ID}, listedAt: row.ListedAt, checkedAt: row.CheckedAt, reason: row.Reason,
		held: map[pin]hold{}, stamp: row.Stamp(), tried: make(chan struct{}),
	}
	k.offer = upstream.Listing{
		Info: row.Info, Capabilities: row.Capabilities, Instructions: row.Instructions, Resources: row.Resources, Templates: row.Templates,
		Skills: row.Skills, Era: mcp.Era(row.Era), TTL: row.TTL, Private: row.PrivateTo != "",
	}
	k.privateTo = row.PrivateTo
	for _, raw := range row.Hosts {
		name, _ := rawjson.String(raw)
		k.offer.Hosts = append(k.offer.Hosts, name)
	}
	for _, t := range row.Tools {
		if def, ok := c.stored(row.ID, t.Definition); ok {
			k.offer.Tools = append(k.offer.Tools, def)
		}
	}
	for _, raw := range row.Prompts {
		if def, ok := c.stored(row.ID, raw); ok {
			k.offer.Prompts = append(k.offer.Prompts, def)
		}
	}
	for _, h := range row.Held {
		k.held[pin{Kind(h.Kind), h.Name}] = hold{h.KeptOut, h.Was}
	}
	k.held = settled(k.offer, k.held, row.Decisions)
	if !k.listedAt.IsZero() {
		close(k.tried)
	}
	return k
}

func (c *Catalog) stored(server tool.ServerID, raw json.RawMessage) (tool.Definition, bool) {
	def, err := tool.ParseDefinition(raw)
	if err != nil {
		c.opts.Logger.Warn("stored definition left out", "server", server, "error", err)
	}
	return def, err == nil
}

// Apply makes the catalog serve the configuration's servers and profiles.
func (c *Catalog) Apply(cfg *config.Config) {
	c.mu.Lock()
	if c.config == nil || c.config.Limits.Schema != cfg.Limits.Schema {
		c.plans = schema.NewCache(&schema.Options{MaxInput: int(cfg.Limits.Schema)})
	}
	c.config = cfg
	c.allTried.Store(false)
	c.framed = false
	c.frames = nil
	if rules, wrong := project.Compile(cfg.Results); len(wrong) == 0 {
		c.rules = rules
	} else {
		c.opts.Logger.Error("the rules for results stay as they were", "error", wrong[0])
	}
	if set, wrong := policy.Compile(cfg.Policy); len(wrong) == 0 { // the configuration was checked
		c.policy = set
	} else {
		c.opts.Logger.Error("the policy stays as it was", "error", wrong[0].Text)
	}
	for _, s := range cfg.Servers {
		k := c.servers[s.ID]
		if k == nil {
			k = &known{offer: upstream.Listing{TTL: -1}, tried: make(chan struct{})}
			c.servers[s.ID] = k
		}
		k.cfg = s
		k.checkOwner()
		c.lister.Recognize(s.ID, k.trusted())
	}
	changed := c.rebuild()
	c.mu.Unlock()
	c.announce(changed)
	c.poke()
}

// active are the servers of the configuration, in its order. The caller holds mu.
func (c *Catalog) active() []*known {
	if c.config == nil {
		return nil
	}
	active := make([]*known, 0, len(c.config.Servers))
	for _, s := range c.config.Servers {
		if !s.Disabled {
			active = append(active, c.servers[s.ID])
		}
	}
	return active
}

// change is a list that has changed.
type change struct{ profile, kind string }

// rebuild makes the views again and returns the lists that changed. The caller holds mu.
func (c *Catalog) rebuild() (changed []change) {
	old := *c.views.Load()
	views := make(map[string]*View, len(c.config.Profiles))
	fresh := !c.framed
	if fresh {
		c.framed = true
		own := c.opts.Own.names()
		for _, p := range c.config.Profiles {
			c.frames = append(c.frames, c.newFrame(p, own))
		}
		c.sources.own = own
		c.sources.kinds = append(slices.Clone(c.config.Known), c.kinds...)
		c.joiner.servers = c.active()
	}
	c.joiner.foreign = c.joiner.foreign[:0]
	for _, k := range c.joiner.servers {
		c.joiner.foreign = append(c.joiner.foreign, k.foreign())
		if fresh || k.source == nil || k.made != k.version {
			k.source = k.newSource(c.sources.kinds, c.sources.own)
			k.made = k.version
		}
	}
	for _, f := range c.frames {
		v := c.joiner.join(f, old[f.Name])
		views[f.Name] = v
		if before := old[f.Name]; before != nil {
			changed = append(changed, before.changes(v)...)
		}
	}
	c.views.Store(&views)
	for _, k := range c.pending {
		k.triedOnce() // after the views are there, because waiters read them next
	}
	c.pending = nil
	return changed
}

func (c *Catalog) announce(changed []change) {
	for _, ch := range changed {
		c.opts.Changed(ch.profile, ch.kind)
	}
}

// View is what the profile sees now.
func (c *Catalog) View(profile string) (*View, error) {
	if v := (*c.views.Load())[profile]; v != nil {
		return v, nil
	}
	return nil, fault.New(fault.NotFound, "there is no profile %.100s", profile)
}

// Server is what the catalog knows about a server.
type Server struct {
	ID        tool.ServerID
	Info      json.RawMessage
	Tools     int
	Prompts   int
	Resources int
	Held      []string // names of what waits for approval, as Approve takes them
	Notes     []string // what was left out of its list, and why
	KeptOut   []string // names of what was rejected
	Era       mcp.Era  // protocol era; "" if not known
	ListedAt  time.Time
	CheckedAt time.Time
	Reason    string // why the last listing failed
	Disabled  bool
	Listing   bool // it is being listed because it is new or was changed

	Capabilities json.RawMessage // as it declared them; nil: not known
}

// Servers returns what is known about each server, in configuration order.
func (c *Catalog) Servers() []Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config == nil {
		return nil
	}
	var all []Server
	for _, cfg := range c.config.Servers {
		k := c.servers[cfg.ID]
		s := Server{
			ID: cfg.ID, Info: k.offer.Info, Tools: len(k.offer.Tools), Prompts: len(k.offer.Prompts), Resources: len(k.offer.Resources),
			ListedAt: k.listedAt, CheckedAt: k.checkedAt, Reason: k.reason, Disabled: cfg.Disabled, Era: k.offer.Era, Notes: k.offer.Notes,
			Capabilities: k.offer.Capabilities,
		}
		_, due := c.due[cfg.ID]
		s.Listing = due || k.listing && (!k.told.IsZero() || k.listedAt.IsZero() && k.reason == "")
		s.Held, s.KeptOut = k.heldNames()
		all = append(all, s)
	}
	return all
}
