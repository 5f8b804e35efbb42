package console

import (
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/base/linediff"
)

// The list of a server with thousands of tools is one record.
func TestLongChangesDoNotMakeThePageLong(t *testing.T) {
	lines := slices.Repeat([]linediff.Line{{Mark: "+", Text: "12345"}}, 100)
	if first, more := cutDiff(lines, 500); len(first) != 10 || more != 90 {
		t.Errorf("%d lines and %d more", len(first), more)
	}
	if first, more := cutDiff(lines, 5000); len(first) != 100 || more != 0 {
		t.Errorf("all are %d lines and %d more", len(first), more)
	}
	if first, more := cutDiff(lines, 1); len(first) != 1 || more != 99 {
		t.Errorf("at least one: %d lines and %d more", len(first), more)
	}
}
