package config

import (
	"cmp"
	"time"
)

// Detach says when a call goes on without its request: after so long, or one of the constants. Zero is not set.
type Detach time.Duration

const (
	DetachOff  Detach = -1 // never
	DetachAuto Detach = -2 // after DetachAfter, where a model's client would not hear of progress; else never
)

// DetachAfter is when a call detaches whose setting is auto: common clients give up after a minute.
const DetachAfter = 50 * time.Second

// The range of useful durations: what runs for an hour is ended anyway.
const (
	minDetach = time.Second
	maxDetach = time.Hour
)

// ResolveDetach returns the first setting that is set, so the most specific comes first; auto if none is.
func ResolveDetach(levels ...Detach) Detach { return cmp.Or(cmp.Or(levels...), DetachAuto) }

// String writes the setting as the file has it; "" if it is not set.
func (d Detach) String() string {
	switch d {
	case 0:
		return ""
	case DetachOff:
		return "off"
	case DetachAuto:
		return "auto"
	}
	return formatDuration(time.Duration(d))
}

func parseDetach(s string) (Detach, string) {
	for _, word := range []Detach{DetachAuto, DetachOff} {
		if s == word.String() {
			return word, ""
		}
	}
	after, ok := ParseDuration(s)
	if !ok || after < minDetach || after > maxDetach {
		return 0, "expected auto, off, or a duration from 1s to 1h, such as 50s"
	}
	return Detach(after), ""
}
