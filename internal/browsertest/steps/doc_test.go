package steps_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestEveryExampleOfTheGuideIsRead(t *testing.T) {
	text, err := os.ReadFile("../../../docs/steps.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	read := map[string]int{}
	for _, b := range blocks {
		read[b[1]]++
		var err error
		switch b[1] {
		case "yaml":
			_, err = steps.Parse("guide.yaml", []byte(b[2]), nil)
		case "markdown":
			_, err = steps.Parse("guide.md", []byte(b[2]), nil)
		case "sentences":
			for line := range strings.Lines(b[2]) {
				if _, err := steps.ParseSentence(strings.TrimSpace(line)); err != nil {
					t.Errorf("%s%v", line, err)
				}
			}
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, b[2])
		}
	}
	if read["yaml"] < 3 || read["markdown"] < 1 || read["sentences"] < 1 {
		t.Errorf("examples are missing: %v", read)
	}
}
