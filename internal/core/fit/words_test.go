package fit

import (
	"flag"
	"hash/fnv"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var update = flag.Bool("update", false, "write the list of words anew")

var plainWord = regexp.MustCompile(`\b[A-Z]?[a-z]{3,15}\b`)

// wordsFrom lists the words of the tools of some servers: those in names, and those in the texts of two servers:
// what only one has is often misspelled.
func wordsFrom(t testing.TB, from func(server string) bool) map[string]bool {
	words := map[string]bool{}
	first := map[string]string{} // word → the server that has it
	server := ""
	add := func(list []string, name bool) {
		for _, w := range list {
			w = strings.ToLower(w)
			if len(w) < 2 || len(w) > 16 || !isLatin(w) {
				continue
			}
			if first[w] == "" {
				first[w] = server
			}
			words[w] = words[w] || name || first[w] != server
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			add(plainWord.FindAllString(v, -1), false)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for name, item := range v {
				add(wordsOf(name), true)
				walk(item)
			}
		}
	}
	for _, file := range corpora.Tools {
		for _, row := range corpora.Rows[struct {
			Server, Doc, Description string
			InputSchema              any
		}](t, file) {
			server = row.Server + row.Doc
			if from(server) {
				walk(row.Description)
				walk(row.InputSchema)
			}
		}
	}
	return words
}

// half tells to which half of the servers one belongs.
func half(server string) int {
	h := fnv.New32a()
	h.Write([]byte(server))
	return int(h.Sum32()>>8) % 2
}

// TestTheUsualWordsAreThoseOfThePublicLists writes words.txt anew with -update.
func TestTheUsualWordsAreThoseOfThePublicLists(t *testing.T) {
	if os.Getenv("TOOLFIT_DATA") == "" {
		t.Skip("needs the whole lists: set TOOLFIT_DATA")
	}
	words := wordsFrom(t, func(string) bool { return true })
	maps.DeleteFunc(words, func(_ string, is bool) bool { return !is })
	text := strings.Join(slices.Sorted(maps.Keys(words)), "\n") + "\n"
	if *update {
		if err := os.WriteFile("words.txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if text != wordList {
		t.Error("words.txt is not up to date; run with -update")
	}
}

// TestNoNameOfAToolIsAMisspellingOfAnother takes every name of the public lists for a slip of every other one;
// also with the words of half of the servers only, as for tools that nobody here has seen.
func TestNoNameOfAToolIsAMisspellingOfAnother(t *testing.T) {
	byLength := map[int][]form{}
	for _, file := range corpora.Tools {
		for _, raw := range corpora.Schemas(t, file) {
			root, _ := compile(raw)
			for _, f := range declaredNames(reach([]*shape{root})) {
				if list := byLength[len(f.fold)]; !slices.ContainsFunc(list, func(g form) bool { return g.fold == f.fold }) {
					byLength[len(f.fold)] = append(list, f)
				}
			}
		}
	}
	if pairs := misread(byLength, t); len(pairs) > 0 {
		t.Errorf("names are taken for misspelled ones: %v", pairs)
	}
	all := usual
	defer func() { usual = all }()
	for n := range 2 {
		words := wordsFrom(t, func(server string) bool { return half(server) == n })
		usual = func() map[string]bool { return words }
		if pairs := misread(byLength, t); len(pairs) > 8 {
			t.Errorf("with half of the words: %v", pairs)
		} else {
			t.Logf("with half of the words: %v", pairs)
		}
	}
}

// misread lists the pairs of names of which one is taken for a slip of the other.
func misread(byLength map[int][]form, t *testing.T) (pairs []string) {
	compared := 0
	for n, list := range byLength {
		others := slices.Concat(byLength[n-1], list, byLength[n+1])
		for i := range list {
			for j := range others {
				compared++
				if misspelled(&list[i], &others[j], nil, alone) && list[i].plain != others[j].plain && list[i].fold != others[j].fold {
					pairs = append(pairs, list[i].name+" "+others[j].name)
				}
			}
		}
	}
	t.Logf("%d pairs of names", compared)
	return pairs
}
