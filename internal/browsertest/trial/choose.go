package trial

import (
	"regexp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// FilterCases are the cases with one of the tags whose name, or whose suite's name, matches. No tags
// and a nil pattern match all.
func FilterCases(suites []*steps.Suite, tags []string, grep *regexp.Regexp) (out []*steps.Suite) {
	for _, s := range suites {
		one := *s
		one.Cases = nil
		for _, c := range s.Cases {
			tagged := len(tags) == 0 || slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(c.Tags, t) })
			named := grep == nil || grep.MatchString(c.Name) || grep.MatchString(s.Name)
			if tagged && named {
				one.Cases = append(one.Cases, c)
			}
		}
		if len(one.Cases) > 0 {
			out = append(out, &one)
		}
	}
	return out
}
