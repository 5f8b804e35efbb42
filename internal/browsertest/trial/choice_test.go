package trial

import (
	"strings"
	"testing"
)

func TestAnAnswerIsOneRefOrNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"ref":"e1"}`:                                            "e1",
		" \n{\"ref\" : \"f1e2\"}\n":                               "f1e2",
		"```json\n{\"ref\":\"e1\"}\n```":                          "e1",
		"```\n{\"ref\":\"e1\"}```":                                "e1",
		"<think>maybe {\"ref\":\"e9\"}</think>\n{\"ref\":\"e1\"}": "e1",
		`{"ref":null}`:                                            "",
		`{"ref":""}`:                                              "",
	} {
		if got, err := readChoice(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "e1", `"e1"`, `["e1"]`, `{}`, `{"Ref":"e1"}`, `{"ref":1}`, `{"ref":{"ref":"e1"}}`, "```json\n{\"ref\":\"e1\"}",
		"<think>{\"ref\":\"e1\"}", `{"ref":"e1"} ok`, "\xff",
	} {
		if got, err := readChoice(text); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func FuzzReadChoice(f *testing.F) {
	for _, seed := range []string{`{"ref":"e1"}`, "```json\n{\"ref\":null}\n```", "<think>x</think>{\"ref\":\"e1\"}",
		`{"ref":"e1","ref":"e2"}`, `{"ref":`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := readChoice(text)
		if err != nil && ref != "" {
			t.Errorf("%q and %v", ref, err)
		}
		if err == nil && strings.Count(text, `"ref"`)+strings.Count(text, `\u00`) == 0 {
			t.Errorf("%q was made up from %q", ref, text)
		}
	})
}
