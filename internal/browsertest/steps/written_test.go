package steps_test

import (
	"encoding/json"
	"fmt"
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

// Whatever is put together of what people write, a line is refused, or no name and no text of it gets lost.
func TestNoTextGetsLost(t *testing.T) {
	leads := []string{"", "find @ and ", "In @, ", "找到@，", "scroll until you see @ and "}
	clauses := []string{
		"click @", "click @ and @", "check all of: @, @ and @", "type @ into @", "type @", "enter @ for @ and @ for @",
		"set the size to @ and the color to @",
		"choose @ from @", "select the boxes @ and @", "press Enter", "submit @", "turn @ on and @ off", "click it", "press its @ button",
		"勾选@和@", "把@和@都勾上", "在@里写上@", "@选@", "城市选@", "点击@",
	}
	ends := []string{
		"", ", then submit", ", then submit, @", " and submit it", ", then @", ", then @ and @", " to open it", "，然后提交", "，最后保存@",
		" by clicking @", ", @",
	}
	for _, second := range clauses {
		ends = append(ends, ", then "+second)
	}
	for _, lead := range leads {
		for _, first := range clauses {
			for i, end := range append(ends, ends...) {
				form := "\"q%dq\""
				if i >= len(ends) {
					form = "q%dq"
				}
				lost(t, lead+first+end, form)
			}
		}
	}
}

func lost(t *testing.T, line, form string) {
	t.Helper()
	texts := strings.Count(line, "@")
	for i := range texts {
		line = strings.Replace(line, "@", fmt.Sprintf(form, i), 1)
	}
	list, err := steps.ParseSentence(line)
	for i := range list {
		list[i].Text = ""
	}
	all, _ := json.Marshal(list)
	for i := range texts {
		if err == nil && !strings.Contains(string(all), fmt.Sprintf("q%dq", i)) {
			t.Errorf("%s\nlost q%dq: %s", line, i, meaning(line))
		}
	}
}
