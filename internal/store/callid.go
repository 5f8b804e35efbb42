package store

import "time"

// digits are in the order of their bytes, so that ids sort as their numbers do.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// timeDigits hold 55 bits of microseconds, enough until the year 3111.
const timeDigits = 11

// AppendCallTime appends what the id of a call begins with. It sorts before the id of every
// call that began from then on, and after those of all earlier ones.
func AppendCallTime(b []byte, at time.Time) []byte {
	us := uint64(min(max(at.UnixMicro(), 0), 1<<(5*timeDigits)-1))
	b = append(b, "c_"...)
	for shift := 5 * (timeDigits - 1); shift >= 0; shift -= 5 {
		b = append(b, digits[us>>shift&31])
	}
	return b
}

// idSlack is how far the time in a call's id may be from its own.
const idSlack = time.Second

// between adds that a call began in this time, both ends included. The ids have the index;
// the time itself decides at the edges.
func (w *where) between(since, until time.Time) {
	if !since.IsZero() {
		w.has("id >=", string(AppendCallTime(nil, since.Add(-idSlack))))
		w.has("at >=", micros(since))
	}
	if !until.IsZero() {
		w.has("id <", string(AppendCallTime(nil, until.Add(idSlack))))
		w.has("at <=", micros(until))
	}
}
