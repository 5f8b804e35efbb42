// Package dictionary translates single words between Chinese and English.
package dictionary

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sort"
	"strings"
	"sync"
)

// packed has one line per word, sorted: the word, then its translations, best first, separated
// by tabs. lab/dictionary makes it.
//
//go:embed words.txt.gz
var packed []byte

// words is the unpacked dictionary. Most programs never need it.
var words = sync.OnceValue(func() string {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// Translate returns the translations of a word, best first; nil if it is unknown. Chinese
// words have two to four characters, English ones are in lower case.
func Translate(word string) []string {
	text := words()
	key := word + "\t"
	at := sort.Search(len(text)-1, func(i int) bool { return line(text, i) >= key })
	rest, ok := strings.CutPrefix(line(text, at), key)
	if !ok || word == "" || strings.Contains(word, "\t") {
		return nil
	}
	return strings.Split(rest, "\t")
}

// line returns the line that contains position i.
func line(text string, i int) string {
	start := strings.LastIndexByte(text[:i], '\n') + 1
	end := strings.IndexByte(text[start:], '\n')
	return text[start : start+end]
}
