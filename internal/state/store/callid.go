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

// IDs are the bounds that the filter's cursors and times set to the ids, both excluded; "" is no
// bound. Near them there may be calls that began outside of the time.
func (f *CallFilter) IDs() (after, before string) {
	after = f.After
	before = f.Before
	if !f.Since.IsZero() {
		after = max(after, string(AppendCallTime(nil, f.Since.Add(-idSlack))))
	}
	if !f.Until.IsZero() {
		end := string(AppendCallTime(nil, f.Until.Add(idSlack)))
		if before == "" || end < before {
			before = end
		}
	}
	return after, before
}

// Began tells whether a call began in the time that the filter chooses, both ends included.
func (f *CallFilter) Began(at time.Time) bool {
	return !at.Before(f.Since) && (f.Until.IsZero() || !at.After(f.Until))
}

// span adds the filter's cursors and times. The ids have the index; the time itself decides
// at the edges.
func (w *where) span(f *CallFilter) {
	after, before := f.IDs()
	if after != "" {
		w.has("id >", after)
	}
	if before != "" {
		w.has("id <", before)
	}
	w.since("at", f.Since)
	w.until("at", f.Until)
}
