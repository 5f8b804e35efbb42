package tokens_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/tokens"
)

func TestEstimateFollowsItsTable(t *testing.T) {
	for text, want := range map[string]float64{
		"":            0,
		"word":        1,
		"letter":      1,
		"letters":     1.2,
		"camelCase":   2,
		"HTTPServer":  1.8, // no hump between capitals
		"12345":       2,
		"7":           1, // not nothing
		"a b":         2,
		"中文字":         2.55,
		"привет, мир": 9*.35 + .55,
		"\n\n":        1,
		`{"a":1}`:     5*.55 + 1 + .4,
		"\xff\xfe":    1.7, // not UTF-8: still a number
		"internation": 2,
	} {
		if got := tokens.Estimate(text); got != int(math.Floor(want+.5)) {
			t.Errorf("Estimate(%q) = %d, want %v rounded", text, got, want)
		}
	}
}

// slow is the estimator as it is described, byte by byte.
func slow(text string) int {
	sum := 0
	run := 0
	last := byte(0)
	for i := range len(text) {
		b := text[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		switch {
		case letter && run > 0 && !(last >= 'a' && b <= 'Z'):
			run++
			if run > 6 {
				sum += 20
			}
		case letter:
			run = 1
			sum += 100
		case b >= '0' && b <= '9':
			sum += 40
		case b == '\n':
			sum += 50
		case b == ' ':
			sum++
		case b < utf8.RuneSelf:
			sum += 55
		case b >= 0xCE && b <= 0xE0:
			sum += 35
		case b >= 0xC0:
			sum += 85
		}
		if !letter {
			run = 0
		}
		last = b
	}
	return max(min(len(text), 1), (sum+50)/100)
}

func FuzzEstimate(f *testing.F) {
	f.Add("plain words, and 中文", 100)
	f.Add(`{"EnvId":"env-1","PackageName":"个人版"}`, 400)
	f.Add("abcdefghij", 2000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, max(1, times%2000))
		if len(text) > 1<<20 {
			return
		}
		if got, want := tokens.Estimate(text), slow(text); got != want {
			t.Fatalf("Estimate = %d, want %d for %d bytes", got, want, len(text))
		}
		if tokens.Estimate([]byte(text)) != tokens.Estimate(text) {
			t.Fatal("bytes and text differ")
		}
	})
}

func TestCountIsExact(t *testing.T) {
	for text, want := range map[string]int{
		"":            0,
		"hello world": 2,
		`"_omitted":{"fields":["Databases","Storages","LogServices"],"more":8,"ref":"r_7f3kq2","tokens":17520}`: 36,
	} {
		if got := tokens.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestEstimateIsNearTheCount(t *testing.T) {
	for name, text := range map[string]string{
		"JSON":    strings.Repeat(`{"id":12345,"name":"first thing","url":"https://example.com/a/b","ok":true},`, 50),
		"prose":   strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 50),
		"Chinese": strings.Repeat("环境列表返回所有可用的云开发环境。", 50),
		"Russian": strings.Repeat("Курьер Григорий Щукин вручит хрупкую посылку адресату; упаковку вскрывать запрещено. ", 50),
	} {
		exact := tokens.Count(text)
		if got := tokens.Estimate(text); math.Abs(float64(got-exact)) > .35*float64(exact) {
			t.Errorf("%s: estimated %d, counted %d", name, got, exact)
		}
	}
}

func FuzzCount(f *testing.F) {
	for _, text := range []string{
		"It's what they'd've said: don't 'quote' I'M", "a  b\t\n  c \r\n\r\n d",
		`{"id":1234567,"x":[1.5e+10,null],"u":"https://a/b//c"}` + "\n//\n",
		"é́a1中文b2 ſ's K'S", "x\u00a0\u2003y \u00a0z", "\xff\xfea\xc0 b", "'s's 's",
		"--  --\n--/\n/a", "\n \n", "a \n\t\n  b", "١٢٣٤5678²³", "\v\f\x00a\x1f b",
	} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		if len(text) > 1<<10 {
			return
		}
		want := tokens.Naive(text)
		if got := tokens.Count(text); got != want {
			t.Fatalf("Count(%q) = %d, want %d", text, got, want)
		}
		if tokens.Fits(text, max(0, n)) && want > max(0, n) || !tokens.Fits(text, max(want, tokens.Estimate(text))) {
			t.Fatalf("%q has %d tokens", text, want)
		}
		n %= 20
		size := tokens.Prefix(text, n)
		if got := tokens.Naive(text[:size]); got > max(0, n) || utf8.ValidString(text) && !utf8.ValidString(text[:size]) {
			t.Fatalf("Prefix(%q, %d) = %d, which has %d tokens", text, n, size, got)
		}
	})
}

func BenchmarkEstimate50KB(b *testing.B) {
	row := `{"EnvId":"env-00001","Alias":"alias","Status":"NORMAL","PackageName":"个人版","Storages":[{"Bucket":"b-1"}]},`
	data := []byte(strings.Repeat(row, 50<<10/len(row)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		tokens.Estimate(data)
	}
}

func BenchmarkCount50KB(b *testing.B) {
	row := `{"EnvId":"env-00001","Alias":"alias","Status":"NORMAL","Storages":[{"Bucket":"b-1"}]},`
	data := strings.Repeat(row, 50<<10/len(row))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		tokens.Count(data)
	}
}

func TestCountingKnownWordsAllocatesNothing(t *testing.T) {
	text := []byte("The gateway counts the words of a result.")
	tokens.Fits(text, 20)
	if n := testing.AllocsPerRun(100, func() {
		var copied [64]byte // must stay on the stack
		if !tokens.Fits(copied[:copy(copied[:], text)], 20) {
			t.Error("it does not fit")
		}
	}); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
