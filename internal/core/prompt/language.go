package prompt

import (
	"maps"
	"slices"
	"strings"
)

// inLanguage picks the text with the nearest language tag: the same, a more general one (zh-Hans for
// zh-Hans-CN), or another of the same language.
func inLanguage(texts map[string]string, want string) (string, bool) {
	if want == "" || len(texts) == 0 {
		return "", false
	}
	tags := slices.Sorted(maps.Keys(texts))
	for tag := want; tag != ""; tag = tag[:max(0, strings.LastIndexByte(tag, '-'))] {
		for _, t := range tags {
			if strings.EqualFold(t, tag) {
				return texts[t], true
			}
		}
	}
	for _, t := range tags {
		if strings.EqualFold(primary(t), primary(want)) {
			return texts[t], true
		}
	}
	return "", false
}

// primary is the part of a tag that names the language.
func primary(tag string) string {
	language, _, _ := strings.Cut(tag, "-")
	return language
}
