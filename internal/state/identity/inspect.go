package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Inspection is what a provider looks like from here.
type Inspection struct {
	Metadata   *Metadata
	Keys       int           // that it signs with
	Algorithms []string      // for which it has keys
	Accepted   []string      // those of them that are accepted
	Ahead      time.Duration // of its clock, compared with ours; 0: it does not tell
}

// Inspect looks at a provider as the first token of it would. The error says what to do.
func (v *Verifier) Inspect(ctx context.Context, issuer string) (*Inspection, error) {
	i := v.issuer(issuer)
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	m, err := i.fetchMetadata(ctx)
	if err != nil {
		const usual = "issuer must be the address under which the provider has /.well-known/openid-configuration"
		return nil, fault.As(err).WithHint("%s", advice(err, usual))
	}
	if m.JWKSURI == "" && i.cfg.Login != nil && !i.openID() {
		return &Inspection{Metadata: m}, nil // its claims are not signed
	}
	list, header, err := i.readKeys(ctx, m)
	if err != nil {
		return nil, fault.As(err).WithHint("%s", advice(err, "the provider must publish its keys at the jwks_uri of its metadata"))
	}
	seen := &Inspection{Metadata: m, Ahead: ahead(header, v.now())}
	for n := range list {
		if list[n].Use == "" || list[n].Use == "sig" {
			seen.Keys++
		}
	}
	for _, alg := range known {
		if !slices.ContainsFunc(list, func(key jose.JSONWebKey) bool { return suits(&key, alg) }) {
			continue
		}
		seen.Algorithms = append(seen.Algorithms, string(alg))
		if slices.Contains(i.algorithms, alg) {
			seen.Accepted = append(seen.Accepted, string(alg))
		}
	}
	return seen, nil
}

// InspectOpaque asks a provider about a token that it cannot know, to see whether it answers. The error
// says what to do.
func (v *Verifier) InspectOpaque(ctx context.Context, issuer string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	c, err := v.issuer(issuer).ask(ctx, "toolfit-doctor")
	const usual = "introspect.url must be the introspection endpoint of the provider (RFC 7662)"
	if err != nil {
		return fault.As(err).WithHint("%s", advice(err, usual))
	}
	if string(c["active"]) != "false" {
		return fault.New(fault.UpstreamDown, "asked about a token that it cannot know, it does not answer that it is not active").WithHint(usual)
	}
	return nil
}

// InspectLogin asks a provider for a token for a code that it cannot know, to see whether it knows us. The error
// says what to do.
func (v *Verifier) InspectLogin(ctx context.Context, issuer, redirect string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	i := v.issuer(issuer)
	l := NewLogin(issuer, redirect)
	client, err := i.oauth(ctx, l)
	if err != nil {
		return fault.As(err).WithHint("its metadata must name it, with https")
	}
	_, err = client.Exchange(context.WithValue(ctx, oauth2.HTTPClient, i.http), "toolfit-doctor", oauth2.VerifierOption(l.Verifier))
	var said *oauth2.RetrieveError
	if err == nil {
		err = errors.New("it gives a token for a code that nobody has")
	}
	if !errors.As(err, &said) {
		away := fault.As(i.away("its token endpoint does not answer as one: %w", fault.Plain(err)))
		return away.WithHint("%s", advice(err, "look into its log"))
	}
	switch said.ErrorCode {
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials":
		return fault.New(fault.UpstreamDown, "the provider does not accept clientId and clientSecret: it answered %s", said.ErrorCode).
			WithHint("check both; the secret may have expired")
	case "redirect_uri_mismatch":
		return fault.New(fault.UpstreamDown, "the provider does not know the redirect URI %s", redirect).WithHint("register it there")
	case "":
		return fault.As(i.away("its token endpoint answered %d", said.Response.StatusCode)).WithHint("look into its log")
	}
	return nil
}

// ahead compares the time of an answer with ours. A cache adds how old the answer is.
func ahead(h http.Header, now time.Time) time.Duration {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	if age, err := strconv.Atoi(h.Get("Age")); err == nil && age > 0 {
		at = at.Add(time.Duration(age) * time.Second)
	}
	return at.Sub(now).Round(time.Second)
}

// otherName is the error for a provider that is configured under a name it does not use.
type otherName struct{ name string }

func (o *otherName) Error() string { return fmt.Sprintf("it calls itself %.200q", o.name) }

// advice says what to do about a provider that cannot be used: what is usual, unless the error tells more.
func advice(err error, usual string) string {
	var named *otherName
	var name *net.DNSError
	var status *badStatus
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var timed net.Error
	switch {
	case errors.As(err, &named) && named.name != "":
		return "if that is your provider, write: issuer: " + named.name
	case errors.As(err, &authority):
		return "let this machine trust the authority of its certificate, such as with SSL_CERT_FILE=ca.pem in the environment"
	case errors.As(err, &certificate):
		return "its certificate must be valid for the host in issuer"
	case errors.As(err, &name):
		return "check the host name, and that this machine can look it up"
	case fault.SpokenScheme(err) != "":
		return "write the address with " + fault.SpokenScheme(err) + "://"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "start it, or correct the port"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return "can this machine reach it? a firewall may be in between"
	case errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden):
		return "check clientId and clientSecret"
	case errors.As(err, &status) && status.code >= 500:
		return "try again later, and look into its log"
	}
	return usual
}
