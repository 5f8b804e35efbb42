package rawjson_test

import (
	"regexp"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestWhatCannotBeDecodedIsToldInWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"offset":1e308}`:                "in offset: want a whole number in plain digits, got 1e308",
		`{"offset":99999999999999999999}`: "in offset: want a whole number in plain digits, got 99999999999999999999",
		`{"offset":"x"}`:                  "in offset: want a whole number in plain digits, got a string",
		`{"share":true}`:                  "in share: want a number, got true or false",
		`{"offset":`:                      "the JSON ends too early",
		`{"offset":nan}`:                  "it is not JSON: unexpected 'a' at byte 12",
		`{“a”:1}`:                         "it is not JSON: something unexpected at byte 2",
		`{'a':1}`:                         `it is not JSON: unexpected '\'' at byte 2`,
	} {
		var into struct {
			Offset int     `json:"offset"`
			Share  float64 `json:"share"`
		}
		if err := rawjson.Decode([]byte(in), &into); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":1e308}`, `{"a":`, `nul`, "\"\x00", `{"b":{"c":[1,"x"]}}`, `{'`, "{\"\xff\":1}"} {
		f.Add(seed)
	}
	words := regexp.MustCompile(`json: |invalid character|cannot unmarshal|looking for|after (object|array|top)|of type|in literal|\bGo\b`)
	f.Fuzz(func(t *testing.T, in string) {
		var into struct {
			A int
			B struct{ C []string }
			D map[string]bool
		}
		if err := rawjson.Decode([]byte(in), &into); err != nil && words.MatchString(err.Error()) {
			t.Errorf("%q: %v", in, err)
		}
	})
}
