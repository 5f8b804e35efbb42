package seen

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names and of the objects that have them.
const (
	maxNames  = 64 // of an object; a dictionary has more
	maxLength = 40 // of a name, in characters
	maxWords  = 3  // in a name
	maxDigits = 3  // at the end of a word: sha256, address2
	alike     = 5  // objects with the same members that are no accident
)

// isData tells whether a name looks like an id, a date, an address, a file, a sentence.
func isData(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > maxLength || strings.Count(name, " ") >= maxWords {
		return true
	}
	digits, runs := 0, 0
	var last rune
	for i, r := range name {
		switch {
		case unicode.IsDigit(r):
			digits++
			if !unicode.IsDigit(last) {
				runs++
			}
			if i == 0 || runs > 1 || digits > maxDigits {
				return true
			}
		case unicode.IsLetter(r), unicode.IsMark(r) && i > 0, strings.ContainsRune("_-$: ", r), r == '@' && i == 0:
		default:
			return true
		}
		last = r
	}
	return false
}

// names are the names of the members that are told, and how many of the others look like data. One that a single value has may be
// that value's alone, and of names that differ only in the number at their end, three are a list.
func (t *Type) names(least int) (told map[string]bool, data int) {
	numbered := map[string]int{}
	bare := func(name string) string { return strings.TrimRightFunc(name, unicode.IsDigit) }
	for name := range t.members {
		numbered[bare(name)]++
	}
	told = map[string]bool{}
	for name, m := range t.members {
		switch {
		case isData(name), bare(name) != name && numbered[bare(name)] > 2:
			data++
		case bits.OnesCount64(m.values) >= least:
			told[name] = true
		}
	}
	return told, data
}

// isDictionary tells whether the names of an object's members are data, as far as they and their values show.
func (t *Type) isDictionary(told, data int) bool {
	n := len(t.members)
	sum, always := 0, 0
	for _, m := range t.members {
		sum += m.count
		if m.count >= t.objects {
			always++
		}
	}
	switch {
	case n == 0:
		return false
	case n > maxNames, told == 0, 2*data > n:
		return true
	case n > maxNames/4 && sum < n*t.objects/4: // every object has others
		return true
	}
	kinds, inside := t.same()
	return kinds != 0 && (inside > 1 && n >= alike || always == 0 && n >= 3)
}

// same returns the kinds of the members when all have the same, and how many members they have in turn; 0 when they differ.
func (t *Type) same() (kinds kind, members int) {
	var first *Type
	for _, m := range t.members {
		if first == nil {
			first = &m.Type
		}
		if m.kinds != first.kinds || len(m.members) != len(first.members) {
			return 0, 0
		}
		for name := range m.members {
			if first.members[name] == nil {
				return 0, 0
			}
		}
	}
	return first.kinds, len(first.members)
}
