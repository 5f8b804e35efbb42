package locale

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestEveryLanguageHasEveryMessage(t *testing.T) {
	for lang, name := range names {
		texts := map[string]string{}
		parts, _ := fs.Glob(files, "*"+name)
		for _, part := range parts {
			data, err := files.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			before, own := len(texts), map[string]string{}
			if err := errors.Join(json.Unmarshal(data, &own), json.Unmarshal(data, &texts)); err != nil {
				t.Fatalf("%s: %v", part, err)
			}
			if len(texts) != before+len(own) {
				t.Errorf("%s has keys that another file has", part)
			}
		}
		for _, other := range Languages() {
			for key := range messages()[other] {
				if strings.TrimSpace(texts[key]) == "" {
					t.Errorf("%s: there is no %s, which %s has", lang, key, other)
				}
			}
		}
	}
	if len(messages()) != len(Languages()) || len(messages()[English]) == 0 {
		t.Errorf("languages %v, files for %d", Languages(), len(messages()))
	}
}

func TestOnlyChineseMessagesAreChinese(t *testing.T) {
	for key, text := range messages()[English] {
		if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 }) {
			t.Errorf("%s: %q", key, text)
		}
	}
	for key, text := range messages()[Chinese] {
		if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 }) {
			t.Errorf("%s: %q", key, text)
		}
	}
}

func TestTheFirstWishThatCanBeMetIsTaken(t *testing.T) {
	tests := []struct {
		name   string
		wishes []string
		want   Language
	}{
		{"no wish is the usual", []string{"", ""}, English},
		{"underscore", []string{"zh_CN", "en-US"}, Chinese},
		{"any case", []string{"EN-us", "zh"}, English},
		{"script", []string{"zh-Hans-CN"}, Chinese},
		{"an unknown one is passed over", []string{"fr-FR", "zh-CN"}, Chinese},
		{"weights decide", []string{"en;q=0.3, zh;q=0.9"}, Chinese},
		{"weight 0 is unwanted", []string{"zh;q=0"}, English},
		{"a broken weight is unwanted", []string{"zh;q=x"}, English},
		{"only whole words count", []string{"zhuang", "english"}, English},
		{"blanks", []string{"  zh-CN "}, Chinese},
	}
	for _, tt := range tests {
		if got := Choose(English, tt.wishes...); got != tt.want {
			t.Errorf("%s: %v gives %s, want %s", tt.name, tt.wishes, got, tt.want)
		}
	}
}

func TestAMissingMessageIsEnglishOrEmpty(t *testing.T) {
	if got := Language("fr-FR").Text("driver.instances"); got != English.Text("driver.instances") || got == "" {
		t.Errorf("got %q", got)
	}
	if got := Chinese.Text("no such key"); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("zh-CN,en;q=0.5")
	f.Add(";;q=,,;q=1e999")
	f.Fuzz(func(t *testing.T, header string) {
		if got := Choose(English, header); got != English && got != Chinese {
			t.Errorf("%q gives %q", header, got)
		}
	})
}

func TestEveryLanguageFillsInTheSame(t *testing.T) {
	for key, text := range messages()[English] {
		if got, want := verbs(messages()[Chinese][key]), verbs(text); got != want {
			t.Errorf("%s: %q in Chinese, %q in English", key, got, want)
		}
	}
}

// verbs are the places of a message that are filled in.
func verbs(text string) string {
	var found []byte
	for i := range len(text) - 1 {
		if text[i] == '%' {
			found = append(found, text[i+1])
		}
	}
	return string(found)
}
