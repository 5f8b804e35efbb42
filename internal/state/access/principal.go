// Package access authenticates callers and decides what they may do. A caller sends a key,
// tf_<id>_<secret>; the store keeps the id and a hash, never the secret.
//
// It never puts a secret into an error, and never logs.
//
//	keys := access.New(st, nil)
//	who, err := keys.Authenticate(ctx, bearer)
//	if err != nil {
//		return err // fault.Unauthorized
//	}
//	profile, err := who.ProfileFor(requested)
package access

import (
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Role says what the holder of a key may do.
type Role string

const (
	Caller Role = "caller" // calls tools, reads its own records
	Viewer Role = "viewer" // reads everyone's records, calls nothing
	Admin  Role = "admin"  // may do everything
)

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	switch r := Role(name); r {
	case Caller, Viewer, Admin:
		return r, nil
	}
	return "", fault.New(fault.BadRequest, "unknown role %q", name).WithHint("use caller, viewer or admin")
}

// AnyProfile as a principal's profile allows every profile.
const AnyProfile = "*"

// defaultProfile is for callers with AnyProfile that name none.
const defaultProfile = "default"

// Kind says what a principal is.
type Kind string

const (
	KindLocal   Kind = "local"   // a caller on this machine
	KindKey     Kind = "key"     // the holder of a key
	KindUser    Kind = "user"    // a person who signed in at an identity provider
	KindService Kind = "service" // a program that did so on its own behalf
)

// Principal is an authenticated caller.
type Principal struct {
	ID      string // the key's id, "local", or a hash of issuer and subject; the same in every token
	Name    string // for people
	Kind    Kind
	Role    Role
	Profile string    // its profiles, separated by commas, of which the first is its own; AnyProfile means all
	Token   *Identity // what an identity provider says; nil for keys and local callers
}

// Identity is what an identity provider says about a caller.
type Identity struct {
	Issuer  string
	Subject string
	Client  string // the program that got the token
	Groups  []string
	Scopes  []string
	Expires time.Time
}

// Local is the caller on this machine while there are no keys: it may list and call tools and
// read its own records.
func Local() Principal {
	return Principal{ID: "local", Name: "local", Kind: KindLocal, Role: Caller, Profile: AnyProfile}
}

// Owner is Local with the local secret, or the user who runs this program: the same caller with
// all rights.
func Owner() Principal {
	return Principal{ID: "local", Name: "local", Kind: KindLocal, Role: Admin, Profile: AnyProfile}
}

// Actor is p in the audit log.
func (p Principal) Actor() store.Actor {
	return store.Actor{Kind: string(p.Kind), ID: p.ID, Name: p.Name}
}

// MayCall reports whether p may list and call tools.
func (p Principal) MayCall() bool { return p.Role == Caller || p.Role == Admin }

// MayRead reports whether p may read the records of others.
func (p Principal) MayRead() bool { return p.Role == Viewer || p.Role == Admin }

// MayAdmin reports whether p may change servers, rules and keys.
func (p Principal) MayAdmin() bool { return p.Role == Admin }

// Has reports whether p may use the profile.
func (p Principal) Has(profile string) bool {
	if p.Profile == AnyProfile {
		return true
	}
	for rest := p.Profile; rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, ",")
		if one == profile {
			return true
		}
	}
	return false
}

// HasAll reports whether p may use all of the profiles, which are separated by commas.
func (p Principal) HasAll(profiles string) bool {
	for one := range strings.SplitSeq(profiles, ",") {
		if !p.Has(one) {
			return false
		}
	}
	return true
}

// OwnProfile is the profile that p uses if it names none.
func (p Principal) OwnProfile() string {
	if p.Profile == AnyProfile {
		return defaultProfile
	}
	first, _, _ := strings.Cut(p.Profile, ",")
	return first
}

// MayTest reports whether p may start test runs, which act in a browser.
func (p Principal) MayTest() bool { return p.MayCall() && p != Local() }

// Forbidden returns the error for what p may not do; %s in the sentence is its name.
func (p Principal) Forbidden(sentence string) error {
	err := fault.New(fault.Forbidden, sentence, p.Name)
	if p == Local() {
		return err.WithHint("send the local secret: Authorization: Bearer $(toolfit secret)")
	}
	return err
}

// ProfileFor returns the profile to serve: the requested one, or p's own for "".
// A profile that p may not use is a fault.Forbidden.
func (p Principal) ProfileFor(requested string) (string, error) {
	switch {
	case requested == "":
		return p.OwnProfile(), nil
	case requested != AnyProfile && p.Has(requested):
		return requested, nil
	}
	return "", fault.New(fault.Forbidden, "%s may not use profile %q", p.Name, requested).
		WithHint("leave the profile out to use its own")
}
