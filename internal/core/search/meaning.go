package search

import "math"

// addMeaning adds the similarity of each tool's vector to the query's, relative to the most
// similar. Missing vectors and those of another length are ignored.
func (s *scores) addMeaning(query []float32, tools [][]float32) {
	if len(query) == 0 {
		return
	}
	near := make([]float32, len(s.total))
	var sum, best float32
	n := 0
	for i, v := range tools[:min(len(tools), len(near))] {
		if s.allow[i] && len(v) == len(query) {
			near[i] = cosine(query, v)
			sum += near[i]
			best = max(best, near[i])
			n++
		}
	}
	if n == 0 || best <= sum/float32(n) {
		return
	}
	mean := sum / float32(n) // embeddings find everything a little similar
	for i, c := range near {
		if c > mean {
			s.total[i] += perMeaning * (c - mean) / (best - mean)
		}
	}
}

// cosine returns the cosine similarity of two vectors of the same length; 0 if undefined.
func cosine(a, b []float32) float32 {
	var dot, aa, bb float64
	for i, v := range a {
		w := float64(b[i])
		dot += float64(v) * w
		aa += float64(v) * float64(v)
		bb += w * w
	}
	c := float32(dot / math.Sqrt(aa*bb))
	if c != c {
		return 0
	}
	return c
}
