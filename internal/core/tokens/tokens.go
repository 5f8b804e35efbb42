// Package tokens says how many tokens a text costs a model: estimated on every call,
// exact on demand. It knows one vocabulary, o200k; other families differ by up to a fifth,
// so every number carries its label. It never speaks of money, and it never reads a file.
//
//	n := tokens.Estimate(raw)          // fast, no allocation, mostly within a fifth
//	exact, err := tokens.Count(text)   // o200k, slow; the vocabulary is loaded on first use
package tokens

import (
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Label says how a number of tokens was determined.
type Label string

const (
	O200k     Label = "o200k"    // counted with that vocabulary
	Estimated Label = "estimate" // by Estimate
)

// vocabulary is loaded on the first exact count: it takes 16 MB and tens of milliseconds,
// which a gateway that only estimates never pays.
var vocabulary = sync.OnceValues(func() (tokenizer.Codec, error) {
	return tokenizer.Get(tokenizer.O200kBase)
})

// Count returns the number of o200k tokens in text. It takes about a second per megabyte, too
// slow for the path of a call.
func Count(text string) (int, error) {
	codec, err := vocabulary()
	if err != nil {
		return 0, fmt.Errorf("load the o200k vocabulary: %w", err)
	}
	n, err := codec.Count(text)
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	return n, nil
}
