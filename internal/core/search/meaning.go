package search

import "math"

// addMeaning adds to each tool how near its vector is to the query's, as a share of the
// nearest. Vectors that are missing or of another length count for nothing.
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
	mean := sum / float32(n) // models of meaning find everything a little alike
	for i, c := range near {
		if c > mean {
			s.total[i] += perMeaning * (c - mean) / (best - mean)
		}
	}
}

// cosine of the angle between two vectors of one length; 0 where there is none.
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
