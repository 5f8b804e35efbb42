package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/console"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
)

// clockWithin is how far the clock of a provider may be off. Tokens are refused from a minute on.
const clockWithin = 30 * time.Second

// identity checks the identity providers, and what clients that sign in see of the gateway.
func (d *doctor) identity(ctx context.Context, cfg *config.Config, running bool) {
	if len(cfg.Identity) == 0 {
		return
	}
	v := identity.New(cfg.Identity, &identity.Options{Now: d.Now})
	for n := range cfg.Identity {
		subject := fmt.Sprintf("identity[%d]", n)
		p := &cfg.Identity[n]
		if d.provider(ctx, v, subject, p, cfg.Broker != nil) && p.Login != nil {
			d.login(ctx, v, subject+".login", p.Issuer, cfg)
		}
		d.mappings(subject, p)
	}
	d.public(ctx, cfg, running)
}

// provider checks what tokens need, and returns whether it can be reached.
func (d *doctor) provider(ctx context.Context, v *identity.Verifier, subject string, p *config.Identity, brokered bool) bool {
	seen, err := v.Inspect(ctx, p.Issuer)
	if err != nil {
		d.blame(subject, err)
		return false
	}
	d.keys(subject, p, seen)
	if off := seen.Ahead.Abs(); off > clockWithin {
		way := "ahead of"
		if seen.Ahead < 0 {
			way = "behind"
		}
		d.say(warning, subject, fmt.Sprintf("its clock is %s %s the clock of this machine; from a minute on, tokens are refused", off, way),
			"set both by a time server (NTP)")
	}
	if !brokered || p.Login == nil { // else clients sign in at the broker
		d.clients(subject, seen.Metadata)
	}
	if p.Introspect == nil {
		return true
	}
	if err := v.InspectOpaque(ctx, p.Issuer); err != nil {
		d.blame(subject+".introspect", err)
	} else {
		d.say(good, subject+".introspect", "answers", "")
	}
	return true
}

// login checks that the provider knows us, and says what to register there.
func (d *doctor) login(ctx context.Context, v *identity.Verifier, subject, issuer string, cfg *config.Config) {
	base := strings.TrimRight(cfg.PublicURL, "/")
	back := base + console.CallbackPath
	if err := v.InspectLogin(ctx, issuer, back); err != nil {
		d.blame(subject, err)
		return
	}
	message := "the provider knows this client; it needs the redirect URI " + back
	if cfg.Broker != nil {
		message = "the provider knows this client; it needs the redirect URIs " + back + " and " + base + "/oauth/callback"
	}
	d.say(good, subject, message, "")
}

// keys checks that signatures of the provider can be checked.
func (d *doctor) keys(subject string, p *config.Identity, seen *identity.Inspection) {
	has := strings.Join(seen.Algorithms, ", ")
	switch {
	case seen.Metadata.JWKSURI == "":
		d.say(good, subject, p.Issuer+" answers; it signs nothing, so people can sign in on a page, but tokens are refused", "")
	case len(seen.Accepted) > 0:
		keys := terminal.Count(seen.Keys, "key") + " for " + strings.Join(seen.Accepted, ", ")
		d.say(good, subject, p.Issuer+" answers: "+keys, "")
	case has == "":
		d.say(Problem, subject, "none of the keys of "+p.Issuer+" can check a signature",
			"RSA keys need 2048 bits or more; other kinds are P-256, P-384, P-521 and Ed25519")
	default:
		d.say(Problem, subject, fmt.Sprintf("the keys of %s are for %s, which algorithms does not accept", p.Issuer, has),
			"write: algorithms: ["+has+"]")
	}
}

// clients checks whether MCP clients can sign in at the provider by themselves.
func (d *doctor) clients(subject string, m *identity.Metadata) {
	switch {
	case m.AuthorizationEndpoint == "" || m.TokenEndpoint == "":
		d.say(warning, subject, "it names no authorization_endpoint and token_endpoint: nobody can sign in there",
			"programs can still send tokens that they got in another way")
	case m.RegistrationEndpoint == "" && !m.ClientDocuments:
		d.say(warning, subject, "it registers no clients by itself: MCP clients need a client id that you create there",
			"add a broker, which lets them sign in without one; see docs/identity.md")
	case !slices.Contains(m.PKCEMethods, "S256"):
		d.say(warning, subject, "it does not list S256 in code_challenge_methods_supported: many MCP clients refuse to sign in there", "")
	}
}

// anyone are the providers at which anybody can have an account.
var anyone = []string{"https://accounts.google.com", "https://github.com/login/oauth"}

// mappings finds those that an earlier one hides, and those that let in more people than anybody means.
func (d *doctor) mappings(subject string, p *config.Identity) {
	for n := range p.Map {
		m := &p.Map[n]
		inner := fmt.Sprintf("%s.map[%d]", subject, n)
		earlier := slices.IndexFunc(p.Map[:n], func(first config.Mapping) bool { return takesAll(&first, m, p.Scope) })
		fitsAll := takesAll(m, &config.Mapping{}, p.Scope)
		switch {
		case earlier >= 0:
			d.say(warning, inner, fmt.Sprintf("is never used: map[%d] comes first, and fits everybody whom it fits", earlier),
				"put it before that one, or remove it")
		case fitsAll && slices.Contains(anyone, p.Issuer):
			d.say(warning, inner, "lets in everybody with an account at "+p.Issuer+", which anybody can have", "add groups or subjects")
		case fitsAll && m.Role == string(access.Admin):
			d.say(warning, inner, "makes everybody an administrator who can sign in at "+p.Issuer, "add groups or subjects")
		}
	}
}

// takesAll tells whether the first mapping fits everybody whom the second fits. All tokens have the scope.
func takesAll(first, second *config.Mapping, scope string) bool {
	return within(second.Groups, first.Groups) && within(second.Subjects, first.Subjects) &&
		(first.Client == "" || first.Client == second.Client) &&
		(first.Scope == "" || first.Scope == second.Scope || first.Scope == scope)
}

// within tells whether whoever has one of some has one of all; none of all asks for nothing.
func within(some, all []string) bool {
	if len(all) == 0 {
		return true
	}
	return len(some) > 0 && !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}
