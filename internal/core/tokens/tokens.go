// Package tokens says how many tokens a text costs a model: estimated on every call,
// exact on demand. It knows one vocabulary, o200k; other families differ by up to a fifth,
// so every number carries its label. It never speaks of money, and it never reads a file.
//
//	n := tokens.Estimate(raw)          // fast, no allocation, mostly within a fifth
//	exact := tokens.Count(text)        // o200k; the vocabulary is unpacked on first use
//	ok := tokens.Fits(text, 2000)      // exact
package tokens

// Label says how a number of tokens was determined.
type Label string

const (
	O200k     Label = "o200k"    // counted with that vocabulary
	Estimated Label = "estimate" // by Estimate
)
