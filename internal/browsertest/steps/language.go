package steps

import (
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/locale"
)

// Language is that of most steps, without what they quote from the page.
func (s *Suite) Language() locale.Language {
	han := 0
	all := 0
	for _, c := range s.Cases {
		for _, step := range c.Steps {
			all++
			if strings.ContainsFunc(mask(step.Text).text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				han++
			}
		}
	}
	if han*2 > all {
		return locale.Chinese
	}
	return locale.English
}
