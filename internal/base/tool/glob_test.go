package tool

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name, glob, in string
		want           bool
	}{
		{"text is itself", "abc", "abc", true},
		{"the whole name must fit", "abc", "abcd", false},
		{"case counts", "abc", "ABC", false},
		{"a star is any run", "cloud__*", "cloud__list", true},
		{"a star is also nothing", "cloud__*", "cloud__", true},
		{"a star crosses slashes and dots", "a*z", "a/b.c/z", true},
		{"stars on both sides find a part", "*delete*", "db__delete_row", true},
		{"a later part must come later", "*b*a", "ab", false},
		{"a star goes back for more", "*ab", "aab", true},
		{"a question mark is one character", "?", "中", true},
		{"a question mark is never nothing", "a?", "a", false},
		{"Chinese text is itself", "文件__*读", "文件__全部读", true},
		{"an empty glob fits an empty name", "", "", true},
		{"stars fit an empty name", "**", "", true},
		{"brackets are themselves", "[a]", "a", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Match(tt.glob, tt.in); got != tt.want {
				t.Errorf("Match(%q, %q) = %v", tt.glob, tt.in, got)
			}
		})
	}
}

func TestMatchStaysFastWithManyStars(t *testing.T) {
	if Match(strings.Repeat("*a", 500)+"b", strings.Repeat("a", 5000)) {
		t.Error("matched")
	}
}

// FuzzMatch compares with a regular expression that says the same.
func FuzzMatch(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("*文*", "中文字")
	f.Fuzz(func(t *testing.T, glob, name string) {
		got := Match(glob, name)
		if !utf8.ValidString(glob) || !utf8.ValidString(name) || len(glob) > 200 {
			return
		}
		expr := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(glob))
		if want := regexp.MustCompile(`(?s)\A` + expr + `\z`).MatchString(name); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", glob, name, got, want)
		}
	})
}
