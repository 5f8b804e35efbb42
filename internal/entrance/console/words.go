package console

import (
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// words are the functions that templates of a language call.
func (c *Console) words(lang locale.Language) template.FuncMap {
	return template.FuncMap{
		"t":     func(key string, args ...any) string { return text(lang, key, args...) },
		"word":  func(prefix string, code any) string { return word(lang, prefix, fmt.Sprint(code)) },
		"say":   func(sentence string) string { return say(lang, sentence) },
		"why":   func(code any, sentence string) string { return why(lang, fmt.Sprint(code), sentence) },
		"at":    c.at,
		"asset": func(name string) string { return c.assets.paths[name] },
		"clock": clock, "moment": moment, "took": took, "size": size, "number": func(n any) string { return number(reflect.ValueOf(n).Int()) }, "share": share,
		"code": code, "badge": newBadge, "empty": newEmpty, "plain": plain, "breakable": breakable,
		"serverTone": serverTone, "callTone": callTone, "millis": millis,
		"htmx":    func() string { return htmxConfig },
		"segment": url.PathEscape,
		"runTone": runTone, "statusTone": statusTone, "levelTone": levelTone,
	}
}

// word is what a code of ours means; one that we do not know stays as it is.
func word(lang locale.Language, prefix, code string) string {
	if known := text(lang, prefix+code); known != "" {
		return known
	}
	return plain(code)
}

// say shows a sentence of ours in the language; what others wrote stays as it is.
func say(lang locale.Language, sentence string) string { return plain(lang.Translate(sentence)) }

// why says what a fault's code means, where its sentence stays English.
func why(lang locale.Language, code, sentence string) string {
	if lang == locale.English || lang.Translate(sentence) != sentence {
		return ""
	}
	return lang.Text("fault." + code)
}

// htmxConfig keeps htmx from evaluating text and from adding styles, which the policy
// forbids anyway, and from keeping pages in the browser's storage.
const htmxConfig = `{"allowEval":false,"includeIndicatorStyles":false,"historyCacheSize":0,"refreshOnHistoryMiss":true,` +
	`"selfRequestsOnly":true,"allowScriptTags":false}`

// clock is the time as a person reads it: today without the date.
func clock(t time.Time) string {
	t = t.Local()
	if time.Since(t) < 24*time.Hour && t.Day() == time.Now().Day() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// moment is the time with its zone, for programs and for those who hover.
func moment(t time.Time) string { return t.Format(time.RFC3339) }

func took(d time.Duration) string {
	switch {
	case d < 50*time.Microsecond:
		return "<0.1 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// millis is a duration of the REST API.
func millis(ms float64) string { return took(time.Duration(ms * float64(time.Millisecond))) }

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// number groups the digits of a count by three.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f') // a narrow space that does not break
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// share is a part of one as per cent.
func share(part float64) string {
	if part > 0 && part < 0.01 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// badge is a state in one word. Its tone helps the eye; the word alone says it.
type badge struct{ Tone, Text string }

func newBadge(tone, text string) badge { return badge{tone, text} }

// empty is what a page says where there is nothing yet: why, and what to do first.
type empty struct {
	Title, Text string
	Commands    string // "": none
}

func newEmpty(title, text, commands string) empty { return empty{title, text, commands} }

// plain shows text of strangers: what would hide or turn around is shown by its number.
func plain(s string) string { return visible.Text(s) }

// breakable is a name or a mask that may go on in the next line after an underscore or a
// comma: else narrow places cut it anywhere.
func breakable(text string) template.HTML {
	return template.HTML(joints.ReplaceAllString(template.HTMLEscapeString(plain(text)), "$0<wbr>"))
}

var joints = regexp.MustCompile("_+|,")
