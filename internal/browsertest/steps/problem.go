package steps

import (
	"fmt"
	"slices"
	"strings"

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
