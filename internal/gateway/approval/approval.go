// Package approval asks people about calls that a rule of the policy wants approved. A question is about one caller, one tool
// and exact arguments; it is decided once, outside of the conversation with the caller, and a yes is used once. It never takes
// the word of a client for that of a person.
//
//	desk := approval.New(approval.Options{Store: st, Config: cfg, Page: link})
//	calls := call.New(cat, pool, log, &call.Options{Approve: desk.Approve})
//	desk.Decide(ctx, approval.Decider{Principal: who, OnPage: true}, id, approval.Decision{Approve: true})
package approval

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	maxOpen      = 20       // questions of one caller
	maxArguments = 64 << 10 // bytes that a person is asked to read
	maxReason    = 1000     // bytes
	lookEvery    = time.Second
)

// Options are what a Desk is made of.
type Options struct {
	Store      *store.Store
	Config     func() config.Approvals
	Page       func(id string) string      // where a question is decided
	Redact     func(string) string         // removes secrets from arguments
	Background func(func(context.Context)) // runs work beside calls
	HTTP       *http.Client                // reaches the webhook
	Logger     *slog.Logger
}

// Desk is where questions are asked and decided.
type Desk struct{ opts Options }

// New makes a Desk.
func New(opts Options) *Desk { return &Desk{opts} }

// About is what a question is about, beside the tool.
type About struct {
	Name      string          `json:"name"` // of who asks
	Kind      string          `json:"kind"`
	Client    string          `json:"client,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Hints     map[string]bool `json:"hints"`
	Rules     []Rule          `json:"rules"`
	Arguments json.RawMessage `json:"arguments"` // as the server will get them, without secrets of the configuration
}

// Rule is a rule that wants a yes.
type Rule struct {
	Name      string           `json:"name"`
	Say       string           `json:"say,omitempty"`
	Approvers *policy.Approver `json:"approvers,omitempty"`
}

// Read is what a question is about.
func Read(a *store.Approval) (about About, err error) {
	if a.Err != nil {
		return about, a.Err
	}
	return about, json.Unmarshal(a.About, &about)
}

// Approve uses an approval of the call; without one it asks, and waits where the client can be told so.
func (d *Desk) Approve(ctx context.Context, p *call.Permission) (call.Approved, error) {
	for {
		a, err := d.ask(ctx, p)
		if err != nil {
			return call.Approved{}, err
		}
		switch a.State {
		case store.ApprovalApproved:
			used, err := d.opts.Store.UseApproval(ctx, a.ID)
			if err != nil {
				return call.Approved{}, err
			}
			if used {
				return call.Approved{By: a.By, Return: func(ctx context.Context) error { return d.opts.Store.ReturnApproval(ctx, a.ID) }}, nil
			}
			continue // by somebody else, who was quicker
		case store.ApprovalDenied:
			return call.Approved{}, denied(&a)
		}
		if err := d.wait(ctx, p, &a); err != nil {
			return call.Approved{}, err
		}
	}
}

// ask returns the question that stands for the call, which is asked if there is none.
func (d *Desk) ask(ctx context.Context, p *call.Permission) (store.Approval, error) {
	cfg := d.opts.Config()
	about, digest, err := d.describe(p)
	if err != nil {
		return store.Approval{}, err
	}
	sealed, err := rawjson.Marshal(about)
	if err != nil {
		return store.Approval{}, err
	}
	a, asked, err := d.opts.Store.AskApproval(ctx, store.Approval{
		ID: rand.Text(), Principal: p.Request.Principal.ID, Profile: p.Request.Profile, Server: p.Tool.Server, Tool: p.Tool.Name,
		Digest: digest, Call: p.CallID(), About: sealed, Expires: time.Now().Add(cfg.Expire),
	}, maxOpen)
	if err == nil && asked && cfg.Webhook.URL != "" {
		d.opts.Background(func(ctx context.Context) { d.tell(ctx, cfg.Webhook, a, about) })
	}
	return a, err
}

// describe is what people are shown of a call, and the digest that binds it: of the arguments, of the profile, whose
// administrators may decide, and of the rules, so that an approval does not hold for stricter ones.
func (d *Desk) describe(p *call.Permission) (about About, digest string, err error) {
	who := p.Request.Principal
	about = About{Name: who.Name, Kind: string(who.Kind), Agent: p.Request.Agent, Hints: map[string]bool{
		"readOnly": p.Tool.ReadOnly, "destructive": p.Tool.Destructive, "idempotent": p.Tool.Idempotent, "openWorld": p.Tool.OpenWorld,
	}}
	if who.Token != nil {
		about.Client = who.Token.Client
	}
	for _, r := range p.Decision.Asks {
		about.Rules = append(about.Rules, Rule{r.Name, r.Say, r.Approvers})
	}
	if len(p.Args) > maxArguments {
		return about, "", fault.New(fault.TooLarge, "%s needs a person's approval, and nobody can read %d KB of arguments",
			p.Tool.Name, len(p.Args)>>10).WithHint("make the call with less than %d KB", maxArguments>>10)
	}
	bound, err := json.Marshal([]any{p.Request.Profile, about.Rules})
	if err != nil {
		return about, "", err
	}
	args := rawjson.Digest(p.Args)
	sum := sha256.Sum256(append(args[:], bound...))
	shown := []byte(strings.ToValidUTF8(d.opts.Redact(string(p.Args)), "\uFFFD"))
	switch {
	case len(bytes.TrimSpace(shown)) == 0:
		shown = []byte("{}")
	case !json.Valid(shown):
		shown = rawjson.Encode(string(shown))
	}
	about.Arguments = shown
	return about, hex.EncodeToString(sum[:]), nil
}

// wait returns nil once the question is not open any more. A client that cannot show pages and holds no task is told to
// come back.
func (d *Desk) wait(ctx context.Context, p *call.Permission, a *store.Approval) error {
	required := d.required(a)
	ask := rawjson.Encode(map[string]string{
		"mode": "url", "message": "Somebody has to approve this call of " + string(a.Tool) + " on this page.",
		"url": d.opts.Page(a.ID), "elicitationId": a.ID,
	})
	shows := mcp.Can(p.Request.From.Capabilities, "elicitation/create", ask)
	if !p.Waits(shows) {
		return required
	}
	err := p.Wait(ctx, required.Message+" ("+d.opts.Page(a.ID)+")", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		refused := make(chan struct{})
		if shows {
			go d.askClient(ctx, p, ask, refused)
		}
		return d.await(ctx, a, refused)
	})
	switch {
	case fault.Is(err, fault.Canceled) && p.Detached():
		d.opts.Store.CancelApproval(context.WithoutCancel(ctx), a.ID, p.CallID()) // else it expires
	case err == errRefused:
		return required
	case err == nil && a.State == store.ApprovalExpired:
		return fault.New(fault.ApprovalRequired, "nobody has approved this call of %s in time", a.Tool).WithHint("the same call again asks anew")
	case err == nil && shows:
		p.Client().Notify(ctx, "notifications/elicitation/complete", rawjson.Encode(map[string]string{"elicitationId": a.ID}))
	}
	return err
}

// askClient asks the client to show the page. Its yes says that it has, and nothing about the call.
func (d *Desk) askClient(ctx context.Context, p *call.Permission, ask json.RawMessage, refused chan<- struct{}) {
	for {
		detached := p.Detached()
		said, err := p.Client().Ask(ctx, "elicitation/create", ask)
		if err != nil && !detached && p.Detached() {
			continue // who collects the call is asked
		}
		action, _ := rawjson.String(rawjson.Get(said, "action"))
		if ctx.Err() == nil && (err == nil && action != "accept" || err != nil && !detached) {
			close(refused)
		}
		return
	}
}

// errRefused says that the client did not show the page.
var errRefused = fault.New(fault.ApprovalRequired, "the client did not show the page")

// await looks at the question until it is not open any more.
func (d *Desk) await(ctx context.Context, a *store.Approval, refused <-chan struct{}) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		now, err := d.opts.Store.Approval(ctx, a.ID)
		switch {
		case err != nil && ctx.Err() == nil && !fault.Is(err, fault.StoreDown):
			return err
		case err == nil && now.State != store.ApprovalOpen:
			*a = now
			return nil
		}
		select {
		case <-tick.C:
		case <-refused:
			return errRefused
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// required is what a caller is told that cannot wait. It gets what the rules say, and not their names.
func (d *Desk) required(a *store.Approval) *fault.Error {
	f := fault.New(fault.ApprovalRequired, "this call of %s needs a person's approval", a.Tool)
	if about, err := Read(a); err == nil {
		var said []string
		for _, r := range about.Rules {
			if r.Say != "" {
				said = append(said, r.Say)
			}
		}
		if said != nil {
			f = fault.New(fault.ApprovalRequired, "this call of %s needs a person's approval: %s", a.Tool, strings.Join(said, ": "))
		}
	}
	page := d.opts.Page(a.ID)
	return f.
		WithHint("open %s to decide; the same call again goes through once it is approved", page).
		WithDetails(map[string]any{"approval": a.ID, "url": page, "expires_at": a.Expires})
}

func denied(a *store.Approval) error {
	if a.Reason == "" {
		return fault.New(fault.Denied, "%s has denied this call of %s", a.By, a.Tool)
	}
	return fault.New(fault.Denied, "%s has denied this call of %s: %s", a.By, a.Tool, a.Reason)
}

// Decider is somebody who wants to decide.
type Decider struct {
	access.Principal
	OnPage bool // signed in as a person on a page of ours: not with a token or a key, which a program may have
}

// Decision is what somebody decides.
type Decision struct {
	Approve bool
	Reason  string
}

// May tells whether somebody may decide a question: an administrator, but not with the key that asked; or a person on a page
// whom all rules that ask accept.
func May(who Decider, a *store.Approval, about *About) bool {
	if who.Has(a.Profile) && who.Administers(a.Principal) {
		return true
	}
	return who.isPerson() && len(about.Rules) > 0 && !slices.ContainsFunc(about.Rules, func(r Rule) bool { return !r.accepts(who, a) })
}

func (who Decider) isPerson() bool { return who.OnPage && who.Kind == access.KindUser }

// Administers tells whether somebody is an administrator who may decide about what the asker ("": nobody) did: not the same key,
// and not with a token, because agents have them.
func (who Decider) Administers(asker string) bool {
	switch {
	case !who.MayAdmin():
		return false
	case who.Kind == access.KindKey:
		return who.ID != asker
	}
	return who.Kind == access.KindLocal || who.isPerson()
}

// accepts tells whether the rule lets the person decide. Groups are those of the last sign-in on a page.
func (r *Rule) accepts(who Decider, a *store.Approval) bool {
	if r.Approvers == nil {
		return who.ID == a.Principal
	}
	if slices.Contains(r.Approvers.People, who.ID) { // never by name: names change hands
		return true
	}
	return who.Token != nil && slices.ContainsFunc(who.Token.Groups, func(g string) bool { return slices.Contains(r.Approvers.Groups, g) })
}

// Decide decides an open question.
func (d *Desk) Decide(ctx context.Context, who Decider, id string, dec Decision) (store.Approval, error) {
	a, err := d.opts.Store.Approval(ctx, id)
	if err != nil {
		return a, err
	}
	about, err := Read(&a)
	if err != nil {
		return a, err
	}
	if !May(who, &a, &about) {
		return a, refuse(who)
	}
	return d.decide(ctx, id, who.Name, dec)
}

func refuse(who Decider) error {
	f := fault.New(fault.Forbidden, "%s may not decide this", who.Name)
	switch {
	case who.Principal == access.Local():
		return who.Forbidden("%s may not decide this")
	case !who.OnPage && who.Kind != access.KindKey:
		return f.WithHint("sign in on the page: tokens decide nothing, because agents have them")
	}
	return f.WithHint("ask one of the approvers, or an administrator")
}

func (d *Desk) decide(ctx context.Context, id, by string, dec Decision) (store.Approval, error) {
	reason := strings.TrimSpace(dec.Reason)
	if len(reason) > maxReason || strings.ContainsRune(reason, 0) {
		return store.Approval{}, fault.New(fault.BadRequest, "a reason is a text of at most %d bytes", maxReason)
	}
	state := store.ApprovalDenied
	if dec.Approve {
		state = store.ApprovalApproved
	}
	return d.opts.Store.DecideApproval(ctx, id, state, by, strings.ToValidUTF8(reason, "\uFFFD"), time.Now().Add(d.opts.Config().Expire))
}
