package dictionary

import (
	"fmt"
	"testing"
)

func TestTranslate(t *testing.T) {
	for _, w := range []string{"天气", "weather", "zzz", "", "\t", "龟龟", "a"} {
		fmt.Println(w, Translate(w))
	}
	for l := range 0 {
		_ = l
	}
}

func BenchmarkTranslate(b *testing.B) {
	for b.Loop() {
		Translate("天气")
	}
}
