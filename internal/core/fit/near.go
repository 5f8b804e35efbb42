package fit

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/spelling"
)

// fold drops case and the separators between words.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// isNear reports whether two folded names are close: one letter in four may differ. Numbered or lettered
// names (line1 and line2, unit_a and unit_b) are never close.
func isNear(a, b string) bool {
	x := []rune(a)
	y := []rune(b)
	if digits(a) != digits(b) || len(x) == len(y) && len(x) > 0 && string(x[:len(x)-1]) == string(y[:len(y)-1]) {
		return a == b
	}
	most := min(len(x), len(y)) / 4
	if most == 0 || max(len(x), len(y)) > 64 {
		return a == b
	}
	return spelling.Edits(a, b, most+1) <= most
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// nearest lists the names that may be meant by the wanted one; those that differ only in case and separators
// come first.
func nearest(want string, names []string) []string {
	if len(want) > 4*maxText {
		return nil // too long to be a name, and slow to compare
	}
	f := formOf(want)
	var same, near []string
	for _, name := range names {
		switch g := formOf(cut(name, maxText)); {
		case f.fold == g.fold:
			same = append(same, name)
		case suggests(&f, &g):
			near = append(near, name)
		}
	}
	if len(same) > 0 {
		return same
	}
	return near
}

// suggests reports whether a may be meant by b: they are close, mean the same, or one has the words of the
// other, as en and en_US.
func suggests(a, b *form) bool {
	shorter := min(len(a.fold), len(b.fold))
	slipped := shorter >= 3 && digits(a.fold) == digits(b.fold) && spelling.Edits(a.fold, b.fold, 2) == 1
	within := shorter > 3 && (strings.Contains(a.fold, b.fold) || strings.Contains(b.fold, a.fold))
	return a.plain == b.plain || slipped || within || isNear(a.fold, b.fold) || areSynonyms(a, b) || partOf(a, b) || partOf(b, a)
}

// partOf reports whether all words of a are words of b.
func partOf(a, b *form) bool {
	return len(a.fold) > 1 && !slices.ContainsFunc(a.words, func(w string) bool { return !slices.Contains(b.words, w) })
}

// nearHint suggests similar names.
func nearHint(want string, names []string) string {
	near := nearest(want, names)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + cut(orList(near[:min(3, len(near))]), maxText) + "?"
}

// nameHint is nearHint, or all names if there are few.
func nameHint(want string, names []string) string {
	if hint := nearHint(want, names); hint != "" || len(names) == 0 || len(names) > 12 {
		return hint
	}
	return cut("there are: "+strings.Join(names, ", "), 2*maxText)
}
