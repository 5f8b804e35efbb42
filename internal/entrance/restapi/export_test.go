package restapi

import (
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Routes are the patterns of all routes.
func Routes() (patterns []string) {
	for _, r := range New(Parts{}).routes() {
		patterns = append(patterns, strings.Replace(r.pattern, " ", " "+prefix, 1))
	}
	return patterns
}

// Matches tells whether the live feed of an admin with the filter has a call.
func Matches(q url.Values, c store.Call) bool {
	f, err := parseFilter(q, access.Principal{Role: access.Admin})
	return err == nil && f.matches(c)
}

// Preferred is preferred, for tests.
var Preferred = preferred

// MaxListeners is maxListeners, for tests.
const MaxListeners = maxListeners

// Join is join and leave, for tests.
func (e *Events) Join(who string) (leave func(), err error) {
	l, err := e.join(who)
	return func() { e.leave(l) }, err
}
