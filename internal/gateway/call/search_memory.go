package call

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Uses stores the search words that led to tool calls.
type Uses interface {
	Uses(ctx context.Context, owner string) ([]store.Use, error)
	AddUse(ctx context.Context, u store.Use) error
}

const (
	maxOwners = 1000             // owners whose memory is cached
	fresh     = 10 * time.Minute // when it is read again, if nobody tells that another replica has served the same owner
	seldom    = 24 * time.Hour   // the same words for the same tool are stored once in this time
	maxWrites = 64               // concurrent writes: they must not pile up while the store is down
)

// memories are what each owner's searches led to. They are never shared between owners.
type memories struct {
	uses       Uses // nil: nothing is stored
	background func(func())
	now        func() time.Time
	log        *slog.Logger
	owners     *lru[*owned]
	writes     chan struct{}
}

// owned is one owner's memory.
type owned struct {
	memory *search.Memory
	read   chan struct{} // closed when memory is loaded
	at     time.Time     // when it was read
}

func newMemories(o *Options) *memories {
	return &memories{
		uses: o.Uses, background: o.Background, now: o.Now, log: o.Logger,
		owners: newLRU[*owned](maxOwners), writes: make(chan struct{}, maxWrites),
	}
}

// of returns an owner's memory, which is loaded on first use. Without one, only the words of the tools count.
func (m *memories) of(ctx context.Context, owner string) *search.Memory {
	if m.uses == nil {
		return nil
	}
	var o *owned
	first := false
	m.owners.do(owner, func(held **owned) {
		if *held == nil || m.now().Sub((*held).at) > fresh {
			*held = &owned{read: make(chan struct{}), at: m.now()}
			first = true
		}
		o = *held
	})
	if first {
		o.memory = m.load(context.WithoutCancel(ctx), owner) // others wait for it too
		close(o.read)
	}
	select {
	case <-o.read:
		return o.memory
	case <-ctx.Done():
		return nil
	}
}

// ForgetUses makes the next search of an owner, or with "" of anybody, read again what earlier ones led to.
func (c *Caller) ForgetUses(owner string) {
	if owner == "" {
		c.memories.owners.clear()
		return
	}
	c.memories.owners.drop(owner)
}

func (m *memories) load(ctx context.Context, owner string) *search.Memory {
	uses, err := m.uses.Uses(ctx, owner)
	if err != nil {
		m.log.Warn("searches do without memory for a while", "error", err)
	}
	credits := make([]search.Credit, 0, len(uses))
	for _, u := range uses {
		c := search.Credit{Tool: string(u.Tool), At: u.At}
		if json.Unmarshal(u.Terms, &c.Terms) == nil {
			credits = append(credits, c)
		}
	}
	return search.NewMemory(credits)
}

// learn remembers that a query led to a tool, after others. It is only a hint: it is stored in the background, and not too often.
func (m *memories) learn(ctx context.Context, owner string, name tool.Name, query string, before []string) {
	memory := m.of(ctx, owner)
	if memory == nil {
		return
	}
	credit := search.NewCredit(string(name), query, before, m.now())
	known := slices.ContainsFunc(memory.Credits(string(name)), func(c search.Credit) bool {
		return slices.Equal(c.Terms, credit.Terms) && credit.At.Sub(c.At) < seldom
	})
	if known || len(credit.Terms) == 0 {
		return
	}
	memory.Add(credit)
	select {
	case m.writes <- struct{}{}:
	default:
		m.log.Warn("a use was not kept: the store is behind", "tool", name)
		return
	}
	terms, _ := json.Marshal(credit.Terms) // strings only
	use := store.Use{Owner: owner, Tool: name, Terms: terms, At: credit.At}
	ctx = context.WithoutCancel(ctx)
	m.background(func() {
		defer func() { <-m.writes }()
		if err := m.uses.AddUse(ctx, use); err != nil {
			m.log.Warn("a use was not kept", "tool", name, "error", err)
		}
	})
}
