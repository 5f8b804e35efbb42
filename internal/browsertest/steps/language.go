package steps

import (
	"unicode"

	"github.com/toolfit/toolfit/internal/base/locale"
)

// Language is that of most steps, without what they quote from the page.
func (s *Suite) Language() locale.Language {
	han, all := 0, 0
	count := func(text string) {
		all++
		for _, r := range mask(text).text {
			if unicode.Is(unicode.Han, r) {
				han++
				return
			}
		}
	}
	for _, c := range s.Cases {
		for _, step := range c.Steps {
			count(step.Text)
		}
	}
	if han*2 > all {
		return locale.Chinese
	}
	return locale.English
}
