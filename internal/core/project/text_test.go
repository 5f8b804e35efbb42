package project_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/project"
)

func TestTextIsWhatAModelReadsOfAResult(t *testing.T) {
	for name, c := range map[string][2]string{
		"one text":                        {`{"content":[{"type":"text","text":"你好"}]}`, "你好"},
		"texts are lines":                 {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb"},
		"an empty text is left out":       {`{"content":[{"type":"text","text":""},{"type":"text","text":"b"}]}`, "b"},
		"a picture is named":              {`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`, "[image image/png]"},
		"a sound without a type":          {`{"content":[{"type":"audio","data":"AAAA"}]}`, "[audio]"},
		"a link":                          {`{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}`, "[link file:///a a]"},
		"a resource with text is it":      {`{"content":[{"type":"resource","resource":{"uri":"u","text":"inside"}}]}`, "inside"},
		"one without is named":            {`{"content":[{"type":"resource","resource":{"uri":"u","blob":"AAAA"}}]}`, "[resource u]"},
		"a kind that nobody knows yet":    {`{"content":[{"type":"hologram"}]}`, "[hologram]"},
		"a block without a kind":          {`{"content":[{}]}`, "[]"},
		"structure alone":                 {`{"content":[],"structuredContent":{"n":1.0}}`, `{"n":1.0}`},
		"text goes before structure":      {`{"content":[{"type":"text","text":"t"}],"structuredContent":{"n":1}}`, "t"},
		"nothing at all":                  {`{}`, ""},
		"content that is no list":         {`{"content":"x"}`, ""},
		"no object":                       {`[1]`, ""},
		"no JSON":                         {`{"content":[`, ""},
		"half of a pair is put in order":  {`{"content":[{"type":"text","text":"\ud800x"}]}`, "\uFFFDx"},
		"bytes that are no text stay out": {"{\"content\":[{\"type\":\"text\",\"text\":5}]}", ""},
	} {
		if got := project.Text([]byte(c[0])); got != c[1] {
			t.Errorf("%s: got %q, want %q", name, got, c[1])
		}
	}
}

func TestABudgetForCharactersAimsBelowThem(t *testing.T) {
	result := func(text string) []byte {
		raw, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}})
		return raw
	}
	for name, text := range map[string]string{
		"words":   strings.Repeat("some words of a log line\n", 2000),
		"Chinese": strings.Repeat("订单已经付款，等待发货。", 2000),
		"JSON":    strings.Repeat(`{"id":12345,"ok":true},`, 2000),
		"digits":  strings.Repeat("0123456789", 5000),
	} {
		raw := result(text)
		n := utf8.RuneCountInString(text)
		if got := project.BudgetFor(raw, n, 7); got != 7 {
			t.Errorf("%s: what is short enough keeps its budget, got %d", name, got)
		}
		for _, chars := range []int{4000, 20_000} {
			got := project.BudgetFor(raw, chars, 0)
			share := float64(exact(t, text)) * float64(chars) / float64(n)
			if float64(got) > 0.9*share || float64(got) < 0.8*share-40 {
				t.Errorf("%s: %d characters are about %.0f tokens, got %d", name, chars, share, got)
			}
			if small := project.BudgetFor(raw, chars, 150); small != 150 {
				t.Errorf("%s: a smaller budget became %d", name, small)
			}
		}
		if got := project.BudgetFor(raw, 1, 0); got != 100 {
			t.Errorf("%s: for one character %d: something must be left to read", name, got)
		}
	}
	if got := project.BudgetFor(nil, 10, 5); got != 5 {
		t.Errorf("nothing at all: %d", got)
	}
}
