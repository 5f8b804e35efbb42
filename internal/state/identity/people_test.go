package identity

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// crowd is people in memory.
type crowd struct {
	rows     map[string]store.Person
	disabled string
	seen     int
}

func (c *crowd) CheckPerson(_ context.Context, id, name string) error {
	if id == c.disabled {
		return fault.New(fault.Forbidden, "%s is disabled here", name)
	}
	return nil
}

func (c *crowd) Person(_ context.Context, id string) (store.Person, error) {
	p, ok := c.rows[id]
	if !ok {
		return p, fault.New(fault.NotFound, "nobody")
	}
	return p, nil
}

func (c *crowd) SavePerson(_ context.Context, p store.Person) error {
	c.rows[p.ID] = p
	return nil
}

func (c *crowd) Seen(store.Person) { c.seen++ }

func TestWhoSignedInHasTheRightsOfTodaysMappings(t *testing.T) {
	p := newProvider(t)
	people := &crowd{rows: map[string]store.Person{}}
	with := func(cfg config.Identity) *Verifier { return New([]config.Identity{cfg}, &Options{People: people}) }
	v := with(p.config())
	ctx := t.Context()
	id, err := v.Identify(ctx, p.Token(t, p.good("groups", []string{"platform", "eng"}, "name", "Alice")))
	if err != nil {
		t.Fatal(err)
	}
	row, err := v.SignedIn(ctx, id, "", nil)
	if err != nil || row.ID != id.ID() || !slices.Equal(row.Groups, []string{"platform", "eng"}) || row.Name != "Alice" {
		t.Fatalf("%+v, %v", row, err)
	}
	who, err := v.Principal(ctx, row.ID, "https://editor.example.com/client.json", []string{"mcp:tools"})
	if err != nil || who.ID != row.ID || who.Role != "admin" || who.Token.Client != "https://editor.example.com/client.json" {
		t.Errorf("%+v, %v", who, err)
	}
	strict := p.config()
	strict.Map = []config.Mapping{{Scope: "mcp:tools", Client: "https://editor.example.com/client.json", Profile: "ops"}}
	if _, err := with(strict).SignedIn(ctx, &Identity{Identity: id.Identity, issuer: with(strict).issuers[0]}, "", nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("without the client of the mapping: %v", err)
	}
	if _, err := with(strict).SignedIn(ctx, &Identity{Identity: id.Identity, issuer: with(strict).issuers[0]},
		"https://editor.example.com/client.json", []string{"mcp:tools"}); err != nil {
		t.Errorf("with it: %v", err)
	}
	less := p.config()
	less.Map = less.Map[1:]
	who, err = with(less).Principal(ctx, row.ID, "", nil)
	if err != nil || who.Role != "caller" || who.Profile != "ops" {
		t.Errorf("%+v, %v", who, err)
	}
	none := p.config()
	none.Map = none.Map[2:]
	if _, err := with(none).Principal(ctx, row.ID, "", nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("nothing fits any more, and it says %v", err)
	}
	other := p.config()
	other.Issuer = "https://other.example.com"
	if _, err := with(other).Principal(ctx, row.ID, "", nil); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("its provider is gone, and it says %v", err)
	}
	if _, err := v.Principal(ctx, "u_nobody", "", nil); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("nobody: %v", err)
	}
	people.disabled = row.ID
	if _, err := v.Principal(ctx, row.ID, "", nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("disabled: %v", err)
	}
	if _, err := v.SignedIn(ctx, id, "", nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("disabled: %v", err)
	}
}

func TestWhoComesIsSeenOnceAMinute(t *testing.T) {
	p := newProvider(t)
	people := &crowd{}
	now := time.Now()
	v := New([]config.Identity{p.config()}, &Options{People: people, Now: func() time.Time { return now }})
	token := p.Token(t, p.good())
	for range 10 {
		if _, err := v.Admit(t.Context(), token, resource); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	if _, err := v.Admit(t.Context(), token, resource); err != nil || people.seen != 2 {
		t.Errorf("seen %d times: %v", people.seen, err)
	}
	people.disabled = about(p.URL, "alice").ID()
	if _, err := v.Admit(t.Context(), token, resource); !fault.Is(err, fault.Forbidden) {
		t.Errorf("disabled: %v", err)
	}
}
