package static

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

// TestIsTheOneThatWasTrained fails if model.bin is not what lab/meaning made last.
func TestIsTheOneThatWasTrained(t *testing.T) {
	const want = "304e586008d60604725b2d155ca292859fd769da615bda15db82c4f586187fc9"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(packed))); got != want {
		t.Errorf("the hash is %s", got)
	}
}

// TestSamples checks that tokens and vectors are those of the training script.
func TestSamples(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct {
		Text   string
		Tokens []string
		First  []float64
	}
	if err := json.Unmarshal(raw, &samples); err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		var got []string
		tokens(s.Text, func(token string) { got = append(got, token) })
		if !slices.Equal(got, s.Tokens) {
			t.Errorf("tokens of %q: got %q, want %q", s.Text, got, s.Tokens)
		}
		v := Of(s.Text)
		for i, want := range s.First {
			if math.Abs(float64(v[i])-want) > 1e-4 {
				t.Errorf("vector of %q: got %v, want %v", s.Text, v[:4], s.First)
				break
			}
		}
	}
	if len(samples) < 20 {
		t.Errorf("%d samples", len(samples))
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{"", "deleteFile", "删除 file", "ＡＢ\xff", "iPhoneXs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := Of(text)
		if size := v.Dot(&v); size != 0 && math.Abs(float64(size)-1) > 1e-3 {
			t.Fatalf("the vector of %q has the length %v", text, size)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of("What will the weather be like in Lisbon this weekend, do I need an umbrella?")
	}
}

func BenchmarkDot(b *testing.B) {
	v := Of("weather forecast")
	w := Of("current temperature")
	for b.Loop() {
		v.Dot(&w)
	}
}
