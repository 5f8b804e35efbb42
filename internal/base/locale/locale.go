// Package locale holds what services and people read, in each language that we speak: one
// file of messages per part and language, all languages with the same keys. It chooses a language from
// what a request asks for. It never translates by itself and never reads the environment.
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

// Language is one that we speak, by the name that services use for it.
type Language string

// The languages.
const (
	Chinese Language = "zh-CN"
	English Language = "en-US"
)

// Languages are all of them.
func Languages() []Language { return []Language{Chinese, English} }

//go:embed *.json
var files embed.FS

// names are how the files of the languages end.
var names = map[Language]string{Chinese: "zh-Hans.json", English: "en-US.json"}

// messages are read once. The files are part of the program, and a test reads them all.
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

// Text is the message under the key. A key that the language does not have is taken from
// English; one that nobody has is "".
func (l Language) Text(key string) string {
	all := messages()
	if text, ok := all[l][key]; ok {
		return text
	}
	return all[English][key]
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

// Choose takes the first wish that we can meet, else what is usual. A wish is one tag, or
// the list that browsers send, with weights.
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

// Cookie keeps the language that a person has chosen, for all pages alike.
const Cookie = "toolfit_language"

// Of is the language of a page for the person who asks for it: the one that was chosen, else
// what the browser likes best.
func Of(r *http.Request) Language {
	chosen := ""
	if c, err := r.Cookie(Cookie); err == nil {
		chosen = c.Value
	}
	return Choose(English, append([]string{chosen}, r.Header.Values("Accept-Language")...)...)
}

// maxTags bounds how many tags of one header are looked at.
const maxTags = 32

// byWeight are the tags of a list, the most wanted first. A tag of weight 0 is not wanted.
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
