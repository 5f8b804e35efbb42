package pages

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
)

// codes reads the codes from the source of package fault.
func codes(t *testing.T) map[fault.Code]bool {
	t.Helper()
	source, err := os.ReadFile("../../internal/base/fault/fault.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[fault.Code]bool{}
	for _, m := range regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		found[fault.Code(m[1])] = true
	}
	return found
}

func TestEveryCodeHasAPageInEachLanguage(t *testing.T) {
	sections := map[locale.Language]int{}
	for code := range codes(t) {
		for _, lang := range locale.Languages() {
			page, ok := Of(code, lang)
			if !ok {
				t.Errorf("%s has no page in %s", code, lang)
				continue
			}
			if !strings.HasPrefix(page.Text, "# "+string(code)) || page.Summary == "" || strings.Contains(page.Summary, string(code)) {
				t.Errorf("%s in %s: the heading is not its code and a summary: %q", code, lang, page.Summary)
			}
			if status := fmt.Sprintf("HTTP %d", code.Status()); !strings.Contains(page.Text, status) {
				t.Errorf("%s in %s does not say %s", code, lang, status)
			}
			if n := strings.Count(page.Text, "\n"); n < 10 || n > 25 {
				t.Errorf("%s in %s has %d lines", code, lang, n)
			}
			sections[lang] += strings.Count(page.Text, "\n## ")
		}
	}
	for lang, n := range sections {
		if n != 3*len(codes(t)) {
			t.Errorf("%s: %d sections; each page has causes, what to do, and what programs do", lang, n)
		}
	}
}

func TestEveryPageIsOfACode(t *testing.T) {
	known := codes(t)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok && !known[fault.Code(strings.TrimSuffix(name, ".zh"))] {
			t.Errorf("%s is the page of no code", e.Name())
		}
	}
	listed := map[fault.Code]bool{}
	for _, page := range All(locale.English) {
		listed[page.Code] = true
	}
	if !maps.Equal(listed, known) {
		t.Errorf("All has %v", slices.Sorted(maps.Keys(listed)))
	}
}

func TestBothLanguagesShowTheSameCommands(t *testing.T) {
	for _, page := range All(locale.English) {
		chinese, _ := Of(page.Code, locale.Chinese)
		if got, want := shown(chinese.Text), shown(page.Text); !slices.Equal(got, want) {
			t.Errorf("%s: %q in Chinese, %q in English", page.Code, got, want)
		}
	}
}

func TestTheGuideListsEveryCode(t *testing.T) {
	guide, err := os.ReadFile("../guide.md")
	if err != nil {
		t.Fatal(err)
	}
	for code := range codes(t) {
		if !strings.Contains(string(guide), "(errors/"+string(code)+".md)") {
			t.Errorf("the table of errors has no %s", code)
		}
	}
}

// shown are the first words of the lines that are code.
func shown(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			words := strings.Fields(code)
			lines = append(lines, strings.Join(words[:min(2, len(words))], " "))
		}
	}
	return lines
}
