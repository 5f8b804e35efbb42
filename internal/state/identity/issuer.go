package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	fetchTime = 10 * time.Second // for everything that one look at a provider needs
	maxBody   = 1 << 20
)

// issuer is a provider with its keys.
type issuer struct {
	v          *Verifier
	cfg        config.Identity
	algorithms []jose.SignatureAlgorithm
	subject    string
	groups     string
	keys       keySet
	http       *http.Client
	asks       chan struct{} // holds one for each token that it is asked about now

	mu       sync.Mutex
	metadata *Metadata // nil: to be fetched
	failure  error     // of the last fetch
	tried    time.Time
}

func newIssuer(cfg *config.Identity, v *Verifier) *issuer {
	i := &issuer{v: v, cfg: *cfg, subject: "sub", groups: "groups", asks: make(chan struct{}, maxAsks)}
	if cfg.Subject != "" {
		i.subject = cfg.Subject
	}
	if cfg.Groups != "" {
		i.groups = cfg.Groups
	}
	for _, name := range cfg.Algorithms {
		i.algorithms = append(i.algorithms, jose.SignatureAlgorithm(name))
	}
	if len(i.algorithms) == 0 {
		i.algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}
	}
	meant := []string{cfg.Issuer}
	if cfg.Introspect != nil {
		meant = append(meant, cfg.Introspect.URL)
	}
	if cfg.Login != nil {
		meant = append(meant, cfg.Login.Userinfo...)
	}
	i.http = &http.Client{Transport: guard.New(cfg.Allow, meant...).Trusting(meant...).Environment(), CheckRedirect: origin.Stay}
	i.keys = keySet{fetch: i.fetchKeys, now: v.now, changed: v.Forget}
	return i
}

// Metadata is what a provider says about itself.
type Metadata struct {
	Issuer                string   `json:"issuer"`
	JWKSURI               string   `json:"jwks_uri"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	IntrospectionEndpoint string   `json:"introspection_endpoint"`
	PKCEMethods           []string `json:"code_challenge_methods_supported"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	AnswersIssuer         bool     `json:"authorization_response_iss_parameter_supported"`
}

// discover returns what the provider says about itself, from the first of the usual places that answers.
func (i *issuer) discover(ctx context.Context) (*Metadata, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.metadata != nil {
		return i.metadata, nil
	}
	if i.failure != nil && i.v.now().Sub(i.tried) < retryAfter {
		return nil, i.failure
	}
	i.metadata, i.failure = i.fetchMetadata(context.WithoutCancel(ctx)) // all others wait for the same
	i.tried = i.v.now()
	return i.metadata, i.failure
}

func (i *issuer) fetchMetadata(ctx context.Context) (*Metadata, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	var last error
	for _, at := range wellKnown(i.cfg.Issuer) {
		var m Metadata
		raw, _, err := i.get(ctx, at)
		if err == nil {
			err = readJSON(raw, &m)
		}
		switch {
		case err != nil:
			if isMissing(last) { // which says less
				last = err
			}
			continue
		case m.Issuer != i.cfg.Issuer:
			return nil, i.away("%w", &otherName{m.Issuer})
		}
		return &m, nil
	}
	return nil, i.away("its metadata was not found: %w", fault.Plain(last))
}

// isMissing tells whether an error says no more than that there is nothing.
func isMissing(err error) bool {
	var status *badStatus
	return err == nil || errors.As(err, &status) && status.code == http.StatusNotFound
}

// wellKnown are the places of a provider's metadata.
func wellKnown(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	root := origin.Of(u)
	all := []string{root + path + "/.well-known/openid-configuration", root + "/.well-known/oauth-authorization-server" + path}
	if path != "" {
		all = append(all, root+"/.well-known/openid-configuration"+path)
	}
	return all
}

// acceptable tells whether what the provider names may be fetched: https, unless the provider itself has none.
func (i *issuer) acceptable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(i.cfg.Issuer, "http://"))
}

// away is the error while the provider cannot be used.
func (i *issuer) away(why string, args ...any) error {
	return fault.New(fault.UpstreamDown, "the identity provider %s cannot be used: "+why, append([]any{i.cfg.Issuer}, args...)...).
		WithHint("try again later; an administrator can see why with: toolfit doctor")
}

// forget makes the metadata be fetched again: the provider may have moved.
func (i *issuer) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.metadata = nil
}

func (i *issuer) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	m, err := i.discover(ctx)
	if err != nil {
		return nil, 0, err
	}
	list, header, err := i.readKeys(ctx, m)
	return list, maxAge(header), err
}

func (i *issuer) readKeys(ctx context.Context, m *Metadata) ([]jose.JSONWebKey, http.Header, error) {
	if !i.acceptable(m.JWKSURI) {
		return nil, nil, i.away("its metadata names no keys, or none over https: jwks_uri is %.200q", m.JWKSURI)
	}
	raw, header, err := i.get(ctx, m.JWKSURI)
	var list []jose.JSONWebKey
	if err == nil {
		list, err = parseKeys(raw)
	}
	if err != nil {
		i.forget()
		return nil, nil, i.away("its keys were not read: %w", fault.Plain(err))
	}
	return list, header, nil
}

func (i *issuer) get(ctx context.Context, address string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json")
	return i.do(req)
}

func (i *issuer) do(req *http.Request) ([]byte, http.Header, error) {
	resp, err := i.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, nil, &badStatus{resp.StatusCode}
	case len(raw) > maxBody:
		return nil, nil, errors.New("its answer is too long")
	}
	return raw, resp.Header, nil
}

// badStatus is the error for an answer that is none.
type badStatus struct{ code int }

func (b *badStatus) Error() string {
	return fmt.Sprintf("it answered %d %s", b.code, http.StatusText(b.code))
}

// readJSON decodes an answer. One that is none is named as people know it.
func readJSON(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	switch {
	case err == nil:
		return nil
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")):
		return errors.New("it answered with a web page")
	}
	return errors.New("its answer is not the JSON that is expected")
}
