package project_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// shownText is what a reader gets of a text in a budget.
func shownText(t testing.TB, full string, budget int) string {
	t.Helper()
	out := project.Plan(context.Background(), []byte(text(full)), project.How{Budget: budget}).Apply("r_7x9qzw4k")
	if n := project.CountTokens(out, tokens.Count); n > budget {
		t.Errorf("%d tokens in %d", n, budget)
	}
	return project.Text(out)
}

func TestThirtyIssuesStayThirtyIssues(t *testing.T) {
	full := issues(rand.New(rand.NewPCG(1, 1)), 30)
	shown := shownText(t, full, 2000)
	v, err := decodeNumbers(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range v.([]any) {
		issue := row.(map[string]any)
		for _, value := range []string{fmt.Sprint(issue["number"]), issue["title"].(string), issue["created_at"].(string)} {
			if !hasWord(shown, value) {
				t.Errorf("%q is missing", value)
			}
		}
	}
	for _, want := range []string{`"draft":false`, `"body"`, `"ref":"r_7x9qzw4k"`, `"others":{"columns":["number","title",`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is missing in %s", want, shown)
		}
	}
	if strings.Contains(shown, "avatars.example.com") || strings.Contains(shown, "I_kwDO") {
		t.Errorf("bulk is left: %s", shown)
	}
}

func TestAPageKeepsWhatCanBeActedUpon(t *testing.T) {
	var b strings.Builder
	b.WriteString("### Page\n- main [ref=e1]:\n  - heading \"Shop\" [level=1] [ref=e2]\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  - generic [ref=e%d0]:\n    - paragraph [ref=e%d1]: %s\n    - link \"More %d\" [ref=e%d2]:\n      - /url: /more/%d\n", i, i,
			strings.Repeat("some words ", 20), i, i, i)
	}
	b.WriteString("  - textbox \"Search\" [ref=e999]\n")
	shown := shownText(t, b.String(), 1000)
	for i := range 40 {
		if link := fmt.Sprintf("link \"More %d\" [ref=e%d2]", i, i); !strings.Contains(shown, link) {
			t.Errorf("%s is missing", link)
		}
	}
	for _, want := range []string{"### Page\n", "- main [ref=e1]:", `heading "Shop" [level=1]`, `textbox "Search" [ref=e999]`, `"rows":`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is missing in %s", want, shown)
		}
	}
}

func TestALogKeepsItsBeginningAndItsEnd(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("12:00:00 step %d is done", i))
	}
	lines[1000] = strings.Repeat("a very long line ", 500)
	shown := shownText(t, strings.Join(lines, "\n"), 600)
	if !strings.HasPrefix(shown, lines[0]+"\n"+lines[1]) || !strings.Contains(shown, "\n"+lines[1998]+"\n"+lines[1999]+"\n") ||
		!strings.Contains(shown, "…[+") {
		t.Errorf("got %s", shown)
	}
}

func TestJSONBehindWordsIsCutAsJSON(t *testing.T) {
	shown := shownText(t, "Found 30 issues:\n\n"+issues(rand.New(rand.NewPCG(2, 2)), 30), 2000)
	body, note, ok := strings.Cut(strings.TrimPrefix(shown, "Found 30 issues:\n\n"), "\n{\"_omitted\"")
	if _, err := decodeNumbers(body); err != nil || !ok || !strings.Contains(note, `"others":`) {
		t.Errorf("%v: %.300s", err, shown)
	}
}

func TestMeasurementsOfOneObjectStay(t *testing.T) {
	shown := shownText(t, forecast(t, rand.New(rand.NewPCG(3, 3)), 72).text, 900)
	for _, want := range []string{`"timezone":"Europe/Berlin"`, `"temperature_2m":[`, `"2025-06-01T10:00"`, `"rows":`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is missing in %.500s", want, shown)
		}
	}
}
