package doctree

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

// Problem is one thing wrong with a document: "what is wrong; what to do".
type Problem struct {
	Line, Column int    // 0 when not known, or for the document as a whole
	Field        string // path of the value, such as servers.a.args[0]; "" for none
	Text         string
	Absent       bool // something outside of the document that it refers to is missing
}

// Problems are all that is wrong with a document.
type Problems []Problem

// Err returns all problems as one error, one per line, in the order of the document.
func (ps Problems) Err(path string) *fault.Error {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int { return a.Line - b.Line })
	lines := make([]string, len(sorted))
	for i, p := range sorted {
		lines[i] = p.In(path)
	}
	return fault.New(fault.BadConfig, "%s", strings.Join(lines, "\n"))
}

// In returns the problem with its place: file:line:column: field: problem.
func (p Problem) In(path string) string {
	where := path
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", path, p.Line)
	}
	if p.Line > 0 && p.Column > 0 {
		where += fmt.Sprintf(":%d", p.Column)
	}
	if p.Field != "" {
		where += ": " + p.Field
	}
	return where + ": " + p.Text
}

// Place says where in a document a value stands.
type Place struct {
	Line  int
	Field string
}

// Key returns the place of a key inside p. Unusual keys are quoted so that the path stays readable.
func (p Place) Key(name string, line int) Place {
	if !plainKey(name) {
		name = strconv.Quote(name)
	}
	if p.Field != "" {
		name = p.Field + "." + name
	}
	return Place{line, name}
}

// Index returns the place of an item of the list p.
func (p Place) Index(i, line int) Place {
	return Place{line, fmt.Sprintf("%s[%d]", p.Field, i)}
}

func plainKey(name string) bool {
	unusual := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_*?/$", r)
	}
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, unusual)
}

// DidYouMean returns "; did you mean …?" with the choice nearest to the word, or "".
func DidYouMean(word string, choices []string) string {
	if near := Nearest(word, choices); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Nearest returns the choice that the word was probably meant to be, or "".
func Nearest(word string, choices []string) string {
	word = strings.ToLower(word)
	letters := utf8.RuneCountInString(word)
	if letters == 0 || letters > 64 {
		return ""
	}
	best := ""
	bestAt := 1 + max(1, letters/3)
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
