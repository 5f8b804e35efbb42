package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/spelling"
)

// problem is one thing wrong with a file: "what is wrong; what to do".
type problem struct {
	line  int // 0 for the file as a whole
	field string
	text  string

	absent bool // the value stands outside of the file and is not there
}

type problems []problem

// fault is all problems as one error, a line each, in the order of the file.
func (ps problems) fault(path string) *fault.Error {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b problem) int { return a.line - b.line })
	lines := make([]string, len(sorted))
	for i, p := range sorted {
		lines[i] = p.in(path)
	}
	return fault.New(fault.BadConfig, "%s", strings.Join(lines, "\n"))
}

// unplaced are the problems without lines, for what is no file.
func (ps problems) unplaced() problems {
	out := slices.Clone(ps)
	for i := range out {
		out[i].line = 0
	}
	return out
}

// in is the problem as people read it: file:line: field: problem.
func (p problem) in(path string) string {
	where := path
	if p.line > 0 {
		where = fmt.Sprintf("%s:%d", path, p.line)
	}
	if p.field == "" {
		return where + ": " + p.text
	}
	return where + ": " + p.field + ": " + p.text
}

// place is where in the file a value stands.
type place struct {
	line  int
	field string
}

// key is the place of a key inside p. Odd keys are quoted so that a path stays readable.
func (p place) key(name string, line int) place {
	if !plainKey(name) {
		name = strconv.Quote(name)
	}
	if p.field != "" {
		name = p.field + "." + name
	}
	return place{line, name}
}

// index is the place of an item of the list p.
func (p place) index(i, line int) place {
	return place{line, fmt.Sprintf("%s[%d]", p.field, i)}
}

func plainKey(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_*?/$", r) {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// didYouMean is "; did you mean …?" for the choice nearest to the word, or nothing.
func didYouMean(word string, choices []string) string {
	if near := nearest(word, choices); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest finds the choice that the word was probably meant to be.
func nearest(word string, choices []string) string {
	word = strings.ToLower(word)
	letters := utf8.RuneCountInString(word)
	if letters == 0 || letters > 64 {
		return ""
	}
	best, bestAt := "", 1+max(1, letters/3)
	for _, c := range choices {
		if at := spelling.Edits(word, strings.ToLower(c), bestAt); at < bestAt {
			best, bestAt = c, at
		}
	}
	if best != "" || letters < 4 {
		return best
	}
	for _, c := range choices { // "servers" for mcpServers
		if strings.Contains(strings.ToLower(c), word) {
			return c
		}
	}
	return ""
}
