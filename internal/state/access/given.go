package access

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// AdminKeyVariable is the variable with the text of an administrator's key, which a fresh deployment begins with.
// The same name with _FILE has the path of a file with it.
const AdminKeyVariable = "TOOLFIT_ADMIN_KEY"

// givenName is the name of the key that the variable has.
const givenName = "admin"

const (
	minGiven    = 32 // characters of a secret that somebody has made up
	minDistinct = 8  // different ones among them
)

// NewText makes the text of a key without storing it, for AdminKeyVariable.
func NewText() (string, error) {
	text, _, err := NewKey(givenName, "", Admin, nil)
	return text, err
}

// GivenKey is the key for the store whose text AdminKeyVariable has. It may use all profiles. No error repeats the text.
func GivenKey(text string) (store.Key, error) {
	bad := func(why string) error {
		return fault.New(fault.BadConfig, "%s %s", AdminKeyVariable, why).WithHint("make one: toolfit keys generate")
	}
	id, secret, ok := splitKey(text)
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	otherThanSecret := func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' && r != '_' && other(r) }
	switch {
	case !ok || strings.ContainsFunc(id, other) || strings.ContainsFunc(secret, otherThanSecret):
		return store.Key{}, bad("is not the text of a key: tf_, 8 small letters and digits, _ and a secret of letters and digits")
	case len(secret) < minGiven:
		return store.Key{}, bad("has a secret of fewer than 32 characters")
	case distinct(secret) < minDistinct:
		return store.Key{}, bad("has a secret that can be guessed")
	}
	hash := hashOf(secret)
	return store.Key{ID: id, Name: givenName, Profile: AnyProfile, Role: string(Admin), Hash: hash[:], Origin: AdminKeyVariable}, nil
}

// distinct is how many different characters a text has.
func distinct(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}
