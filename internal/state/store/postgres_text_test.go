package store

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzEveryTextComesBackFromAColumn(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00", "\xff\xfe", "\U0010FE00\U0010FEFF", "\U0010FDFF\U0010FF00", "\xf4\x8f", "\xf4\x8f\xb8",
		"中\x00文"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		stored := encodeText(s)
		if !utf8.ValidString(stored) || strings.Contains(stored, "\x00") {
			t.Fatalf("%q is stored as %q, which PostgreSQL refuses", s, stored)
		}
		if got := decodeText(stored); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
