package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/base/visible"
)

const (
	documentTime   = 5 * time.Second
	maxDocument    = 10 << 10
	minFresh       = time.Minute
	maxFresh       = 24 * time.Hour
	usualFresh     = time.Hour
	wrongFresh     = 10 * time.Second // a document that was not good
	maxDocuments   = 1000             // that are remembered
	maxFetches     = 8                // at once
	maxClientID    = 1000
	maxRedirects   = 50
	registeredName = "client_" // begins the id of a client that has registered itself
)

// client is a program that acts for people.
type client struct {
	ID        string
	Name      string // as it calls itself; may be ""
	Redirects []string
}

// isRegistered tells whether a client has registered itself, so that nobody vouches for it.
func isRegistered(id string) bool { return strings.HasPrefix(id, registeredName) }

// host is whose word its name is; "" for one that has registered itself.
func (c *client) host() string {
	if isRegistered(c.ID) {
		return ""
	}
	return shownHost(c.ID)
}

func (c *client) shown() string { return cmp.Or(c.host(), c.Name, c.ID) }

// allows tells whether the configuration lets a client in.
func (b *Broker) allows(id string) bool {
	if isRegistered(id) {
		return b.Config.Registration
	}
	return isClientID(id, isLoopback(b.Issuer)) && b.Config.MatchClient(id)
}

// isClientID tells whether the address of a document can be a client's name: there is one way only to write it.
func isClientID(id string, local bool) bool {
	u, err := url.Parse(id)
	switch {
	case err != nil || len(id) > maxClientID || u.String() != id || u.User != nil || strings.ContainsAny(id, "?#\\*"):
		return false
	case u.Hostname() == "" || u.Host != strings.ToLower(u.Host) || u.RawPath != "":
		return false
	case u.Path != "/" && path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"):
		return false // also without a path
	}
	return u.Scheme == "https" || local && isLoopback(id)
}

// client finds a client.
func (b *Broker) client(ctx context.Context, id string) (*client, error) {
	if !b.allows(id) {
		return nil, fault.New(fault.Forbidden, "the application %.200q is not one of those that may sign people in here", id).
			WithHint("ask an administrator to add it to broker.clients in the configuration")
	}
	if !isRegistered(id) {
		return b.documents.find(ctx, id)
	}
	c, err := b.Store.Client(ctx, id)
	if err != nil {
		return nil, err
	}
	return &client{c.ID, c.Name, c.Redirects}, nil
}

// documents are what clients say about themselves, at the addresses that are their names.
type documents struct {
	http  *http.Client
	now   func() time.Time
	log   *slog.Logger
	slots chan struct{}

	mu   sync.Mutex
	byID map[string]document
}

type document struct {
	client *client
	err    error // why it is not good
	until  time.Time
}

func newDocuments(issuer string, now func() time.Time, log *slog.Logger) *documents {
	public := guard.New(nil)
	if isLoopback(issuer) {
		public = guard.New(nil, "http://localhost") // everything is on this machine
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &documents{
		http: &http.Client{Transport: public.Direct(), CheckRedirect: stay, Timeout: documentTime},
		now:  now, log: log, slots: make(chan struct{}, maxFetches), byID: map[string]document{},
	}
}

// wrongDocument says what is wrong with a document.
type wrongDocument string

func (w wrongDocument) Error() string { return string(w) }

func (d *documents) find(ctx context.Context, id string) (*client, error) {
	d.mu.Lock()
	known, ok := d.byID[id]
	d.mu.Unlock()
	if ok && d.now().Before(known.until) {
		return known.client, known.err
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		return nil, fault.New(fault.UpstreamBusy, "too many applications are asked about themselves at once").WithHint("try again")
	}
	c, fresh, err := d.fetch(context.WithoutCancel(ctx), id) // it has a timeout of its own
	if err != nil {
		fresh = wrongFresh
		why := "it could not be fetched" // nobody learns from us what is in our network
		var wrong wrongDocument
		if errors.As(err, &wrong) {
			why = string(wrong)
		}
		d.log.Warn("a client's document is not used", "client", id, "error", err)
		err = fault.New(fault.UpstreamProtocol, "what %s says about itself cannot be used: %s", shownHost(id), why).
			WithHint("try again; if that does not help, tell whoever made the application")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.byID) >= maxDocuments {
		clear(d.byID)
	}
	d.byID[id] = document{c, err, d.now().Add(fresh)}
	return c, err
}

func (d *documents) fetch(ctx context.Context, id string) (*client, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK {
		return nil, 0, wrongDocument("it answered " + strconv.Itoa(resp.StatusCode))
	}
	if kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return nil, 0, wrongDocument("it is not JSON")
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, 0, err
	}
	if len(raw) > maxDocument {
		return nil, 0, wrongDocument("it is too long")
	}
	c, err := parseDocument(raw, id)
	return c, freshness(resp.Header), err
}

// metadata is what a client says about itself, in a document or when it registers itself (RFC 7591).
type metadata struct {
	ClientID      string          `json:"client_id"`
	Name          string          `json:"client_name"`
	Redirects     []string        `json:"redirect_uris"`
	AuthMethod    string          `json:"token_endpoint_auth_method"`
	Secret        json.RawMessage `json:"client_secret"`
	GrantTypes    []string        `json:"grant_types"`
	ResponseTypes []string        `json:"response_types"`
}

func parseDocument(raw []byte, id string) (*client, error) {
	var m metadata
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, wrongDocument("it is not a JSON object of the right kind")
	}
	switch {
	case m.ClientID != id:
		return nil, wrongDocument("it is about another application")
	case m.AuthMethod != "" && m.AuthMethod != "none" || m.Secret != nil:
		return nil, wrongDocument("it wants to prove itself with a secret")
	case m.GrantTypes != nil && !slices.Contains(m.GrantTypes, "authorization_code"),
		m.ResponseTypes != nil && !slices.Contains(m.ResponseTypes, "code"):
		return nil, wrongDocument("it does not use codes")
	case len(m.Redirects) > maxRedirects:
		return nil, wrongDocument("it has too many redirect URIs")
	}
	good := slices.DeleteFunc(m.Redirects, func(one string) bool { return !acceptable(one) })
	if len(good) == 0 {
		return nil, wrongDocument("it has no redirect URI that can be used")
	}
	return &client{id, shownName(m.Name), good}, nil
}

// shownName is a client's name for people, with nothing hidden in it.
func shownName(name string) string { return visible.Text(visible.Beginning(name, 60)) }

// freshness is how long a document is used without a look.
func freshness(h http.Header) time.Duration {
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		seconds, err := strconv.ParseInt(value, 10, 32)
		switch {
		case name == "no-store" || name == "no-cache":
			return minFresh
		case name == "max-age" && err == nil:
			return min(max(time.Duration(seconds)*time.Second, minFresh), maxFresh)
		}
	}
	return usualFresh
}
