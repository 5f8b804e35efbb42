package app

import (
	"crypto/rand"
	"testing"
)

// BenchmarkAddAToken is what a new token costs among many known ones, with the next text that is redacted.
func BenchmarkAddAToken(b *testing.B) {
	var s secrets
	for range 1000 {
		s.add([]string{"tok_" + rand.Text() + rand.Text()})
	}
	s.redact("warm")
	for b.Loop() {
		s.add([]string{"tok_" + rand.Text() + rand.Text()})
		s.redact("a line of the log")
	}
}
