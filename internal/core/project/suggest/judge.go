package suggest

import (
	"fmt"
	"math"
)

// Use is the record of a rule since it was turned on.
type Use struct {
	Calls         int
	Fetched       int  // calls for which more was fetched later
	Mismatches    int  // results of another form
	SchemaChanged bool // the server's
}

const (
	leastCalls     = 40  // before a rule is judged
	mostFetched    = .05 // share of the calls
	mostMismatch   = .01
	wilsonQuantile = 1.96
)

// Judge decides whether a rule should go back to shadow mode, and why.
func Judge(u Use) (off bool, why string) {
	switch {
	case u.SchemaChanged:
		return true, "the server changed what it answers"
	case u.Calls < leastCalls:
		return false, ""
	case lowerBound(u.Fetched, u.Calls) > mostFetched:
		return true, fmt.Sprintf("more was fetched for %d of %d results", u.Fetched, u.Calls)
	case float64(u.Mismatches) > mostMismatch*float64(u.Calls):
		return true, fmt.Sprintf("%d of %d results had another form", u.Mismatches, u.Calls)
	}
	return false, ""
}

// lowerBound is the lower bound of the rate, given k of n, with 97.5 % confidence (Wilson).
func lowerBound(k, n int) float64 {
	if n == 0 {
		return 0
	}
	const z = wilsonQuantile
	p := float64(k) / float64(n)
	m := float64(n)
	return (p + z*z/(2*m) - z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))) / (1 + z*z/m)
}
