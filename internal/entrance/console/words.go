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

// words are the functions for the templates of a language.
func (c *Console) words(lang locale.Language) template.FuncMap {
	return template.FuncMap{
		"t":      func(key string, args ...any) string { return text(lang, key, args...) },
		"word":   func(prefix string, code any) string { return word(lang, prefix, fmt.Sprint(code)) },
		"say":    func(sentence string) string { return say(lang, sentence) },
		"why":    func(code any, sentence string) string { return why(lang, fmt.Sprint(code), sentence) },
		"at":     c.at,
		"asset":  func(name string) string { return c.assets.paths[name] },
		"badge":  func(tone, text string) badge { return badge{tone, text} },
		"tone":   tone,
		"empty":  func(title, text, commands string) empty { return empty{title, text, commands} },
		"htmx":   func() string { return htmxConfig },
		"number": func(n any) string { return number(reflect.ValueOf(n).Int()) },
		"clock":  clock, "moment": moment, "took": took, "millis": millis, "size": size, "share": share,
		"code": code, "plain": plain, "breakable": breakable, "segment": url.PathEscape,
	}
}

// tones are the colors of badges, by kind and code; "" stands for all other codes.
var tones = map[string]map[string]string{
	"approval":   {"open": "warn", "approved": "good", "used": "good", "denied": "bad", "": "calm"},
	"connection": {"ready": "good", "needs_login": "bad", "": "calm"},
	"call":       {"ok": "good", "canceled": "calm", "question": "calm", "": "bad"},
	"level":      {"error": "bad", "warn": "warn", "info": "good", "": "calm"},
	"policy":     {"allow": "good", "approve": "warn", "deny": "bad", "": "calm"},
	"recipe":     {"ready": "good", "held": "warn", "": "bad"},
	"rule":       {"on": "good", "shadow": "warn"},
	"server":     {"up": "good", "down": "bad", "starting": "warn", "": "calm"},
	"wait":       {"completed": "good", "failed": "bad", "input_required": "warn", "": "calm"},
	"status":     {"success": "good", "passed": "good", "failed": "bad", "error": "bad", "skipped": "calm", "running": "calm", "": "warn"},
}

func tone(kind string, code any) string {
	if found, ok := tones[kind][fmt.Sprint(code)]; ok {
		return found
	}
	return tones[kind][""]
}

// word is the text for a code; an unknown code stays as it is.
func word(lang locale.Language, prefix, code string) string {
	if known := text(lang, prefix+code); known != "" {
		return known
	}
	return plain(code)
}

// say translates a sentence of ours; other text stays as it is.
func say(lang locale.Language, sentence string) string { return plain(lang.Translate(sentence)) }

// why explains the code of an error whose message is not translated.
func why(lang locale.Language, code, sentence string) string {
	if lang == locale.English || lang.Translate(sentence) != sentence {
		return ""
	}
	return lang.Text("fault." + code)
}

// htmxConfig turns off eval and inline styles, which the CSP forbids anyway, and storing pages
// in the browser.
const htmxConfig = `{"allowEval":false,"includeIndicatorStyles":false,"historyCacheSize":0,"refreshOnHistoryMiss":true,` +
	`"selfRequestsOnly":true,"allowScriptTags":false}`

// clock is the time for people: without the date if it is today.
func clock(t time.Time) string {
	t = t.Local()
	if time.Since(t) < 24*time.Hour && t.Day() == time.Now().Day() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// moment is the time with its zone, for scripts and tooltips.
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

func millis(ms float64) string { return took(duration(ms)) }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

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
		sign = "-"
		digits = digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f') // narrow no-break space
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// share is a fraction as a percentage.
func share(part float64) string {
	if part > 0 && part < 0.01 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// badge is a state in one word, with a color that only supports the word.
type badge struct{ Tone, Text string }

// empty is what a page shows when there is nothing yet: why, and what to do first.
type empty struct {
	Title, Text string
	Commands    string // "": none
}

// plain shows untrusted text: invisible and direction characters are shown as code points.
func plain(s string) string { return visible.Text(s) }

// breakable is a name or a mask in which lines may break after an underscore or a comma.
func breakable(text string) template.HTML {
	return template.HTML(joints.ReplaceAllString(template.HTMLEscapeString(plain(text)), "$0<wbr>"))
}

var joints = regexp.MustCompile("_+|,")
