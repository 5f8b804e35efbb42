package steps_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Each line of the file is a sentence as testers write it, and the steps that it means, or
// "refused".
func TestSentencesAsTestersWriteThemAreReadOrRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		sentence, want, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ||| ")
		if !found {
			t.Fatalf("no meaning: %s", line)
		}
		if got := meaning(sentence); got != want {
			t.Errorf("%s\n got %s\nwant %s", sentence, got, want)
		}
	}
}

func meaning(sentence string) string {
	list, err := steps.ParseSentence(sentence)
	if err != nil {
		return "refused"
	}
	var parts []string
	for _, s := range list {
		parts = append(parts, short(s))
	}
	return strings.Join(parts, "; ")
}
