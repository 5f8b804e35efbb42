// Package locale has the texts for people and services in every supported language: one file of
// messages per area and language, all with the same keys. It also chooses the language of a
// request. The command line looks its English texts up in cli*.zh.json. It never reads the environment.
//
//	lang := locale.Choose(locale.English, r.Header.Get("X-Language"), r.Header.Get("Accept-Language"))
//	text := lang.Text("error.Public.NotFound.description")
package locale

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Language is a supported language.
type Language string

const (
	Chinese Language = "zh-CN"
	English Language = "en-US"
)

// Languages returns all of them.
func Languages() []Language { return []Language{Chinese, English} }

//go:embed *.json
var files embed.FS

// names are the endings of the languages' files.
var names = map[Language]string{Chinese: "zh-Hans.json", English: "en-US.json"}

// messages are read once. A test checks the files.
var messages = sync.OnceValue(func() map[Language]map[string]string {
	all := map[Language]map[string]string{}
	for lang, name := range names {
		texts := map[string]string{}
		parts, _ := fs.Glob(files, "*"+name)
		for _, part := range parts {
			data, _ := files.ReadFile(part)
			json.Unmarshal(data, &texts)
		}
		all[lang] = texts
	}
	return all
})

// Text returns the message under the key: in English if the language lacks it, else "".
func (l Language) Text(key string) string {
	all := messages()
	return cmp.Or(all[l][key], all[English][key])
}

// Parse reads a language tag, such as zh_CN, en-us or ZH.
func Parse(tag string) (Language, bool) {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	switch tag {
	case "zh":
		return Chinese, true
	case "en":
		return English, true
	}
	return "", false
}

// Choose returns the first supported language of the wishes, else the usual one. A wish is one
// tag, or a list with weights, as browsers send it.
func Choose(usual Language, wishes ...string) Language {
	for _, wish := range wishes {
		for _, tag := range byWeight(wish) {
			if lang, ok := Parse(tag); ok {
				return lang
			}
		}
	}
	return usual
}

// Cookie keeps the chosen language, for all pages.
const Cookie = "toolfit_language"

// Of returns the language of a page: the chosen one, else what the browser prefers.
func Of(r *http.Request) Language {
	chosen := ""
	if c, err := r.Cookie(Cookie); err == nil {
		chosen = c.Value
	}
	return Choose(English, append([]string{chosen}, r.Header.Values("Accept-Language")...)...)
}

// maxTags is how many tags of a header are used.
const maxTags = 32

// byWeight returns the tags of a list, the preferred first, without those of weight 0.
func byWeight(list string) []string {
	type weighed struct {
		tag    string
		weight float64
	}
	var tags []weighed
	for part := range strings.SplitSeq(list, ",") {
		tag, params, _ := strings.Cut(part, ";")
		w := weighed{tag, 1}
		if q, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			w.weight, _ = strconv.ParseFloat(q, 64)
		}
		if w.weight > 0 && len(tags) < maxTags {
			tags = append(tags, w)
		}
	}
	slices.SortStableFunc(tags, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	sorted := make([]string, len(tags))
	for i, w := range tags {
		sorted[i] = w.tag
	}
	return sorted
}
