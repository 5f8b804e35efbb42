package access

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	keyPrefix   = "tf_"
	idBytes     = 5  // 8 characters
	secretBytes = 25 // 40 characters, 200 bits
	idLen       = idBytes * 8 / 5
	maxSecret   = 128 // bounds what an unauthenticated caller makes us hash, in a buffer on the stack
	maxName     = 64
)

// lower has no padding and no upper case, so that a key can be read aloud.
var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewKey makes a key. The text is shown to its user once; the row, whose CreatedAt and ExpiresAt the
// caller sets, goes to the store. Several profiles are separated by commas; "" means "default", and any
// profile for an admin. A nil random means crypto/rand.
func NewKey(name, profile string, role Role, random io.Reader) (text string, row store.Key, err error) {
	if err := checkName(name); err != nil {
		return "", store.Key{}, err
	}
	if _, err := ParseRole(string(role)); err != nil {
		return "", store.Key{}, err
	}
	switch {
	case profile == "" && role == Admin:
		profile = AnyProfile
	case profile == "":
		profile = defaultProfile
	}
	if err := checkProfiles(profile, role); err != nil {
		return "", store.Key{}, err
	}
	id, err := randomText(random, idBytes)
	if err != nil {
		return "", store.Key{}, fmt.Errorf("make key %s: %w", name, err)
	}
	secret, err := randomText(random, secretBytes)
	if err != nil {
		return "", store.Key{}, fmt.Errorf("make key %s: %w", name, err)
	}
	hash := hashOf(secret)
	row = store.Key{ID: id, Name: name, Profile: profile, Role: string(role), Hash: hash[:]}
	return keyText(id, secret), row, nil
}

func keyText(id, secret string) string { return keyPrefix + id + "_" + secret }

// randomText is n random bytes as text; a nil random means crypto/rand.
func randomText(random io.Reader, n int) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	return lower.EncodeToString(b), nil
}

// checkProfiles refuses profiles that make no list.
func checkProfiles(profiles string, role Role) error {
	all := strings.Split(profiles, ",")
	for i, one := range all {
		switch {
		case one == AnyProfile && role != Admin:
			return fault.New(fault.BadRequest, "a key of role %s needs one profile, not %q", role, AnyProfile).
				WithHint("name a profile, or use role admin")
		case one == AnyProfile && len(all) > 1:
			return fault.New(fault.BadRequest, "%q is all profiles, and stands alone", AnyProfile)
		case one == "":
			return fault.New(fault.BadRequest, "a profile's name is empty")
		case slices.Contains(all[:i], one):
			return fault.New(fault.BadRequest, "profile %q is named twice", one)
		}
	}
	return nil
}

func checkName(name string) error {
	bad := func(why string) error {
		return fault.New(fault.BadRequest, "key name %q %s", name, why).WithHint(`use letters, digits, ".", "_" and "-"`)
	}
	switch {
	case name == "":
		return bad("is empty")
	case utf8.RuneCountInString(name) > maxName:
		return bad(fmt.Sprintf("is longer than %d characters", maxName))
	case name == Local().Name:
		return bad("is taken: it means the caller without a key")
	}
	for i, r := range name {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("._-", r)) {
			return bad(fmt.Sprintf("may not have %q there", r))
		}
	}
	return nil
}

// splitKey returns the two parts of a key's text.
func splitKey(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, keyPrefix)
	if !ok || len(rest) < idLen+2 || rest[idLen] != '_' {
		return "", "", false
	}
	secret = rest[idLen+1:]
	return rest[:idLen], secret, len(secret) <= maxSecret
}
