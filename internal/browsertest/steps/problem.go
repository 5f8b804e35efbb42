package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Problem is one thing wrong with a test.
type Problem struct {
	Code   snapshot.Code // STEP_UNPARSABLE or STEP_INVALID
	File   string
	Line   int // from 1; 0 for the file as a whole
	Column int // from 1; 0 when it is not known
	Text   string
}

// Error is file:line:column: problem.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		if p.Line > 0 && p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems are all that is wrong with a file, in its order.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// err is the problems as an error, nil for none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if a.File != b.File {
			return 0
		}
		return a.Line - b.Line
	})
	return ps
}

// didYouMean is "; did you mean …?" for the choice nearest to a word, or nothing.
func didYouMean(word string, choices []string) string {
	best := ""
	limit := 1 + max(1, len([]rune(word))/3)
	for _, c := range choices {
		if edits := spelling.Edits(strings.ToLower(word), c, limit); edits < limit {
			best = c
			limit = edits
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
