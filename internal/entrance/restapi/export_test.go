package restapi

import "strings"

// Routes are the patterns of all routes.
func Routes() (patterns []string) {
	for _, r := range New(Parts{}).routes() {
		patterns = append(patterns, strings.Replace(r.pattern, " ", " "+prefix, 1))
	}
	return patterns
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
