package project

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// screenshot is what a browser's server sends: 1280×720, the base64 of a PNG.
func screenshot(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 1280, 720))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const screenshotTokens = 1105

func TestAModelIsChargedOnceForWhatItGets(t *testing.T) {
	picture := screenshot(t)
	escaped := strings.ReplaceAll(picture, "/", `\/`)
	hello := tokens.Estimate("hello, world")
	uri := tokens.Estimate("file:///a/b")
	for _, c := range []struct {
		name, result string
		want         int
	}{
		{"content before structuredContent", `{"content":[{"type":"text","text":"hello, world"}],"structuredContent":{"a":[1,2,3]}}`,
			hello},
		{"content behind structuredContent", `{"structuredContent":{"a":[1,2,3]},"content":[{"text":"hello, world","type":"text"}]}`,
			hello},
		{"structuredContent alone", `{"structuredContent":{"a":[1,2,3]}}`, tokens.Estimate(`{"a":[1,2,3]}`)},
		{"structuredContent beside no content", `{"content":[],"structuredContent":{"a":[1,2,3]}}`, tokens.Estimate(`{"a":[1,2,3]}`)},
		{"structuredContent beside a text that says nothing", `{"content":[{"type":"text","text":""}],"structuredContent":{"a":[1,2,3]}}`,
			tokens.Estimate(`{"a":[1,2,3]}`)},
		{"two texts", `{"content":[{"type":"text","text":"hello, world"},{"type":"text","text":"hello, world"}]}`, 2 * hello},
		{"a text and not how JSON writes it", `{"content":[{"type":"text","text":"{\"a\":\"b\"}\n\u4e2d"}]}`,
			tokens.Estimate("{\"a\":\"b\"}\n中")},
		{"_meta is not for models", `{"_meta":{"x":"long long long"},"content":[{"type":"text","text":"hello, world","_meta":{"y":"z"}}]}`,
			hello},
		{"an image and not its base64", `{"content":[{"type":"image","data":"` + picture + `","mimeType":"image/png"}]}`, screenshotTokens},
		{"an image whose slashes are escaped", `{"content":[{"type":"image","data":"` + escaped + `","mimeType":"image\/png"}]}`,
			screenshotTokens},
		{"an image beside a text", `{"content":[{"type":"text","text":"hello, world"},{"data":"` + picture + `","type":"image"}]}`, hello +
			screenshotTokens},
		{"sound and not its base64", `{"content":[{"type":"audio","data":"` + strings.Repeat("A", 64_000) + `","mimeType":"audio/mpeg"}]}`,
			97},
		{"a resource's text", `{"content":[{"type":"resource","resource":{"uri":"file:///a/b","text":"hello, world"}}]}`, uri + hello},
		{"a resource that is an image", `{"content":[{"type":"resource","resource":{"uri":"file:///a/b","blob":"` + picture +
			`","mimeType":"image/png"}}]}`, uri + screenshotTokens},
		{"a resource that no model gets", `{"content":[{"type":"resource","resource":{"uri":"file:///a/b","blob":"` +
			strings.Repeat("A", 64_000) + `"}}]}`, uri},
		{"a link", `{"content":[{"type":"resource_link","uri":"file:///a/b","name":"b"}]}`, tokens.Estimate(`"file:///a/b"`) +
			tokens.Estimate(`"b"`)},
		{"an error", `{"content":[{"type":"text","text":"hello, world"}],"isError":true}`, hello},
		{"nothing", `{}`, 0},
		{"odd blocks", `{"content":[1,null,[],{"type":"text"},{"type":"text","text":5},{"type":"image","data":null}]}`, 0},
		{"no result", `[]`, 0},
	} {
		if got := Tokens([]byte(c.result)); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
		if got, _ := Measure([]byte(c.result), longestIn([]byte(c.result))); got != c.want {
			t.Errorf("%s, past its longest string: %d tokens, want %d", c.name, got, c.want)
		}
		if !strings.Contains(c.name, "odd") && rawjson.Check([]byte(c.result)) != nil {
			t.Errorf("%s is no JSON", c.name)
		}
	}
}

// longestIn is the longest string that the members of an object hold.
func longestIn(raw []byte) (longest rawjson.Span) {
	w := rawjson.Object(raw)
	w.Longest = &longest
	for w.Next() {
	}
	if w.Err() != nil {
		return rawjson.Span{}
	}
	return longest
}

func TestWhetherAToolFailedIsReadAlongWithWhatItCosts(t *testing.T) {
	for result, want := range map[string]bool{
		`{"isError":true,"content":[{"type":"text","text":"x"}]}`:                                         true,
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"isError":false},"isError":true}`:   true,
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"isError":true},"isError":false}`:   false,
		`{"content":[{"type":"text","text":"\"isError\":true"}]}`:                                         false,
		`{"content":[],"isError":true}`:                                                                   true,
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"isError":true}}`:                   false,
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"isError":true},"isError" : true }`: true,
	} {
		for _, longest := range []rawjson.Span{{}, longestIn([]byte(result))} {
			if _, got := Measure([]byte(result), longest); got != want {
				t.Errorf("%s: %v", result, got)
			}
		}
	}
}

func TestExactCountsAreOfTheSameTexts(t *testing.T) {
	var texts []string
	n := CountTokens([]byte(`{"content":[{"type":"text","text":"a\nb"},{"type":"image","data":"`+screenshot(t)+
		`"},{"type":"text","text":"中"}],"structuredContent":{"a":1}}`),
		func(text string) int { texts = append(texts, text); return 10 })
	if n != 20+screenshotTokens || strings.Join(texts, "|") != "a\nb|中" {
		t.Errorf("%d: %q", n, texts)
	}
}

// resultOf is a result of one text, whole or cut, with all kinds of blocks beside it.
func resultOf(t testing.TB, text, structured string) []byte {
	t.Helper()
	literal, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	raw := `{"content":[{"type":"text","text":` + string(literal) +
		`},{"type":"resource","resource":{"uri":"file:///a","text":"of a resource"}},` +
		`{"type":"resource_link","uri":"file:///b","name":"b"},{"type":"image","data":"` + screenshot(t) + `"}]`
	if structured != "" {
		raw += `,"structuredContent":` + structured
	}
	return []byte(raw + "}")
}

func TestACutKnowsWhatTheWholeCosts(t *testing.T) {
	m, err := mask.Parse("rows(id)")
	if err != nil {
		t.Fatal(err)
	}
	value := `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"id":17,"name":"some name of it, and more"},`, 500), ",") + `]}`
	for name, raw := range map[string][]byte{
		"text": resultOf(t, value, ""), "fenced": resultOf(t, "```json\n"+value+"\n```", ""), "both": resultOf(t, value, value),
		"structured": []byte(`{"structuredContent":` + value + `}`), "prose": resultOf(t, strings.Repeat("some words\n", 900), ""),
	} {
		for what, how := range map[string]How{"mask": {Mask: m}, "budget": {Budget: 300}, "both": {Mask: m, Budget: 300}} {
			cut := Plan(t.Context(), raw, how)
			out := cut.Apply("r_1")
			if got := cut.Full(); got != Tokens(raw) {
				t.Errorf("%s by %s: %d tokens, want %d", name, what, got, Tokens(raw))
			}
			if how.Budget > 0 && Tokens(out) > 300+screenshotTokens+2*noteTokens+20 {
				t.Errorf("%s by %s: %d tokens are over the budget", name, what, Tokens(out))
			}
			cut.Release()
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a\ud800"},{"type":"image","data":"iVBORw0KGgo="}],"structuredContent":{},` +
		`"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"blob":"\/9j/","mimeType":"image/jpeg","uri":1}},7`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n := Tokens(raw); n < 0 || n > len(raw)+1445*bytes.Count(raw, []byte("{")) {
			t.Errorf("%d tokens of %d bytes", n, len(raw))
		}
		n, failed := Measure(raw, rawjson.Span{})
		if m, also := Measure(raw, longestIn(raw)); m != n || also != failed {
			t.Errorf("%d tokens past the longest string, %v; want %d, %v", m, also, n, failed)
		}
		if n := Plan(t.Context(), raw, How{Budget: 1}).Full(); n < 0 {
			t.Errorf("%d tokens", n)
		}
	})
}

func BenchmarkTokens50KB(b *testing.B) {
	row := `{\"EnvId\":\"env-00001\",\"Alias\":\"alias\",\"Status\":\"NORMAL\",\"PackageName\":\"个人版\",` +
		`\"Storages\":[{\"Bucket\":\"b-1\"}]},`
	raw := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(row, 50<<10/len(row)) + `"}]}`)
	for name, longest := range map[string]rawjson.Span{"known": longestIn(raw), "unknown": {}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				Measure(raw, longest)
			}
		})
	}
}
