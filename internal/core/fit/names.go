package fit

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/core/dictionary"
)

// form is a name in the forms by which names are compared.
type form struct {
	name  string
	fold  string   // without case and separators
	words []string // in lower case
	plain string   // fold, with every word in the singular and written out
}

func formOf(name string) form {
	f := form{name: name, fold: fold(name), words: wordsOf(name)}
	for _, w := range f.words {
		f.plain += spelledOut(singular(spelledOut(w)))
	}
	return f
}

// wordsOf splits a name where the case changes, at digits and at signs: maxHTTPRetries2 is max, http,
// retries, 2.
func wordsOf(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	cutAt := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for k, r := range runes {
		if fold(string(r)) == "" {
			cutAt(k)
			start = k + 1
			continue
		}
		if k == start {
			continue
		}
		before := runes[k-1]
		ends := unicode.IsUpper(before) && unicode.IsUpper(r) && k+1 < len(runes) && unicode.IsLower(runes[k+1])
		if unicode.IsLower(before) && unicode.IsUpper(r) || unicode.IsDigit(before) != unicode.IsDigit(r) || ends {
			cutAt(k)
		}
	}
	cutAt(len(runes))
	return words
}

// singular returns the word without the ending of the plural; it is for comparing only: movie and movies are
// both movy.
func singular(w string) string {
	switch {
	case w == "ids":
		return "id"
	case len(w) < 4 || w == "https" || w == "news" || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ie"):
		return w[:len(w)-2] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	}
	return strings.TrimSuffix(w, "s")
}

// abbreviations are short or British forms of words that mean nothing else in the names of arguments.
var abbreviations = map[string]string{
	"addr": "address", "amt": "amount", "arg": "argument", "attr": "attribute", "behaviour": "behavior", "centre": "center",
	"cfg": "configuration", "cmd": "command", "colour": "color", "config": "configuration", "coord": "coordinate", "db": "database",
	"dest": "destination", "desc": "description", "dir": "directory", "doc": "document", "dst": "destination", "env": "environment",
	"expr": "expression", "favourite": "favorite", "fmt": "format", "freq": "frequency", "id": "identifier", "idx": "index", "img": "image",
	"info": "information", "lang": "language", "lat": "latitude", "licence": "license", "lng": "longitude", "lon": "longitude",
	"max": "maximum", "min": "minimum", "msg": "message", "num": "number", "org": "organization", "organisation": "organization",
	"param": "parameter", "passwd": "password", "pwd": "password", "qty": "quantity", "repo": "repository", "src": "source", "txt": "text",
	"tz": "timezone", "uri": "url", "val": "value",
}

// quantities are words of names whose number is an amount, in the singular and in the plural.
var quantities = []string{
	"amount", "count", "depth", "duration", "height", "length", "limit", "maximum", "minimum", "number", "offset", "per", "price", "rate",
	"score", "size", "threshold", "timeout", "total", "weight", "width",
}

func spelledOut(w string) string {
	if long, ok := abbreviations[w]; ok {
		return long
	}
	return w
}

// synonyms are names of the same argument, each group in the form of form.plain.
var synonyms = func() [][]string {
	groups := [][]string{
		{"query", "q", "search_query", "search_term", "search_text", "search_string", "query_string", "query_text"},
		{"url", "link", "href"},
		{"path", "file_path"},
		{"directory", "folder", "dir_path", "folder_path"},
		{"limit", "max_results", "num_results", "number_of_results", "result_limit", "results_limit", "max_count", "max_items", "num_items"},
		{"page_size", "per_page", "items_per_page", "results_per_page"},
		{"start_date", "from_date", "date_from", "date_start"},
		{"end_date", "to_date", "date_to", "date_end"},
		{"start_time", "from_time", "time_from", "time_start"},
		{"end_time", "to_time", "time_to", "time_end"},
	}
	for _, g := range groups {
		for k := range g {
			g[k] = formOf(g[k]).plain
		}
	}
	return groups
}()

func areSynonyms(a, b *form) bool {
	return slices.ContainsFunc(synonyms, func(g []string) bool { return slices.Contains(g, a.plain) && slices.Contains(g, b.plain) })
}

//go:embed words.txt
var wordList string

// usual returns words that public tools name and describe their arguments with. A test makes the list.
var usual = sync.OnceValue(func() map[string]bool {
	list := strings.Fields(wordList)
	words := make(map[string]bool, len(list))
	for _, w := range list {
		words[w] = true
	}
	return words
})

// backing is what speaks for a slip besides the word.
type backing int

const (
	alone  backing = iota
	among          // the other words of the name
	needed         // the name is required and missing, and no other one can be meant by it
	proven         // the value can be nothing else
)

// misspelled reports whether a is b with a slip of the pen in some of its words.
func misspelled(a, b *form, uses map[string]bool, back backing) bool {
	if len(b.fold) < 4 || max(len(a.fold), len(b.fold)) > 64 || digits(a.fold) != digits(b.fold) || len(a.words) > len(b.words) {
		return false
	}
	if len(a.words) < len(b.words) { // written as one: short words are too easily part of another one
		short := func(w string) bool { return len(w) < 4 }
		return len(a.words) == 1 && !slices.ContainsFunc(b.words, short) && slip(a.fold, b.fold, back)
	}
	for k, w := range a.words {
		around := back
		switch {
		case len(w) == len(a.fold):
		case len(w) < 4 && back == needed:
			around = proven
		default:
			around = max(back, among)
		}
		if w != b.words[k] && (uses[w] || !slip(w, b.words[k], around)) {
			return false
		}
	}
	return true
}

// isWord reports whether a word means something by itself.
func isWord(w string) bool { return usual()[w] || isPlain(w) }

// isPlain reports whether a word, or what it is a form of, is in the dictionary or an abbreviation, unlike names
// and acronyms.
func isPlain(w string) bool {
	if abbreviations[w] != "" || len(w) > 2 && dictionary.Translate(w) != nil {
		return true
	}
	for _, ending := range []string{"s", "es", "ed", "er", "ing", "ly"} {
		stem, ok := strings.CutSuffix(w, ending)
		if !ok || len(stem) < 3 || ending == "s" && strings.HasSuffix(stem, "s") || ending[0] == 'e' && strings.HasSuffix(stem, "e") {
			continue
		}
		verb := ending == "ed" || ending == "er" || ending == "ing"
		if verb && dictionary.Translate(stem+"e") != nil || (!verb || len(stem) > 3) && dictionary.Translate(stem) != nil {
			return true
		}
	}
	return false
}

// slip reports whether a, which means nothing by itself, is the word b with a letter added, left out or changed,
// or two swapped. Where the name is needed, only words of tools mean something. The shorter a word, the more others
// are close to it: one of four letters must be plain, and one of three also be backed by more; swapped or doubled
// letters are clear. A letter at either end may be a word of its own, as in xmin and pointa.
func slip(a, b string, back backing) bool {
	if len(a) < 2 || !isLatin(a) || !isLatin(b) || spelling.Edits(a, b, 2) != 1 {
		return false
	}
	if back < needed && isPlain(a) || back < proven && usual()[a] {
		return false
	}
	first := a[0] == b[0]
	last := a[len(a)-1] == b[len(b)-1]
	long := len(b) > 4 || back > alone
	switch {
	case sameLetters(a, b):
		return long || len(b) > 2
	case len(b) < 3:
		return false
	case isDoubled(a, b):
		return true
	case len(b) == 3 && !long || len(b) < 5 && back < needed && !isPlain(b):
		return false
	case first && last:
		return true
	case len(a) < len(b):
		return first || len(a) > 3 || long && len(a) > 2 || back >= needed
	case len(b) == 3 && !last:
		return false
	}
	letter := a[:1]
	rest := b[1:]
	if first {
		letter = a[len(a)-1:]
		rest = b[:len(b)-1]
	}
	return isWord(b) && (long && !strings.Contains(labels, letter) || len(a) == len(b) && !isWord(rest))
}

// labels are letters that tell things of one kind apart, or count them.
const labels = "abcnxyz"

// isDoubled reports whether a is b with one letter twice.
func isDoubled(a, b string) bool {
	for k := range b {
		if a == b[:k+1]+b[k:] {
			return true
		}
	}
	return false
}

func sameLetters(a, b string) bool {
	for _, r := range a {
		if len(a) != len(b) || strings.Count(a, string(r)) != strings.Count(b, string(r)) {
			return false
		}
	}
	return true
}

func isLatin(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}
