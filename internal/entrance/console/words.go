package console

import (
	"fmt"
	"html/template"
	"io"
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
		"ruling": func(says string) string { return ruling(lang, says) },
		"why":    func(code any, sentence string) string { return why(lang, fmt.Sprint(code), sentence) },
		"at":     c.at,
		"asset":  func(name string) string { return c.assets.paths[name] },
		"badge":  func(tone, text string) badge { return badge{tone, text} },
		"tone":   tone,
		"empty":  newEmpty,
		"htmx":   func() string { return htmxConfig },
		"number": func(n any) string { return number(reflect.ValueOf(n).Int()) },
		"clock":  func(t time.Time) string { return clock(lang, t, time.Now()) },
		"ago":    func(t time.Time) string { return ago(lang, t, time.Now()) },
		"exact":  func(t time.Time) string { return exact(lang, t) },
		"moment": moment, "took": took, "millis": millis, "size": size, "share": share,
		"code": code, "limits": limits, "plain": plain, "breakable": breakable, "segment": url.PathEscape,
		"timeField": timeFieldOf,
	}
}

// tones are the colors of badges, by kind and code; "" stands for all other codes.
var tones = map[string]map[string]string{
	"approval":   {"open": "warn", "approved": "good", "used": "good", "denied": "bad", "": "calm"},
	"connection": {"ready": "good", "needs_login": "bad", "": "calm"},
	"call":       {"ok": "good", "canceled": "calm", "question": "calm", "": "bad"},
	"definition": {"approved": "good", "held": "warn", "kept_out": "bad"},
	"level":      {"error": "bad", "warn": "warn", "info": "good", "": "calm"},
	"mark":       {"destructive": "bad", "suspicious": "warn", "": "calm"},
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

// dates are how the languages write a day, with and without its year. The scripts of the pages write the same.
var dates = map[locale.Language][2]string{
	locale.Chinese: {"1月2日 ", "2006年1月2日 "},
	locale.English: {"Jan 2, ", "Jan 2, 2006, "},
}

// clock is the time for people: without the date if it is today, and without the year if it is this one.
func clock(lang locale.Language, t, now time.Time) string {
	t, now = t.Local(), now.Local()
	date := dates[lang][1]
	switch {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		date = ""
	case t.Year() == now.Year():
		date = dates[lang][0]
	}
	return t.Format(date + time.TimeOnly)
}

// ago is how long ago something was, as far as that is less than a day, or else its time.
func ago(lang locale.Language, t, now time.Time) string {
	switch since := now.Sub(t); {
	case since < -time.Minute || since >= 24*time.Hour:
		return clock(lang, t, now)
	case since < time.Minute:
		return text(lang, "ago.now")
	case since < 2*time.Minute:
		return text(lang, "ago.minute")
	case since < time.Hour:
		return text(lang, "ago.minutes", int(since.Minutes()))
	case since < 2*time.Hour:
		return text(lang, "ago.hour")
	default:
		return text(lang, "ago.hours", int(since.Hours()))
	}
}

// exact is all of a time, with its zone.
func exact(lang locale.Language, t time.Time) string {
	return strings.TrimSuffix(t.Local().Format(dates[lang][1]+time.TimeOnly+" GMT-07:00"), "+00:00")
}

// moment is the time with its zone, for scripts.
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
	minutes, seconds := int(d.Round(time.Second).Minutes()), int(d.Round(time.Second).Seconds())%60
	if minutes < 60 {
		return fmt.Sprintf("%d min %d s", minutes, seconds)
	}
	return fmt.Sprintf("%s h %d min", number(int64(minutes/60)), minutes%60)
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

// number groups the digits of a count by three, as both languages do.
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
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// grouped is a count within a text: %d writes it as number does.
type grouped int64

func (n grouped) Format(to fmt.State, _ rune) { io.WriteString(to, number(int64(n))) }

// share is a fraction as a percentage.
func share(part float64) string {
	if part > 0 && part < 0.01 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", 100*part)
}

// limits are two bounds, of which either may be missing.
func limits(least, most string) string {
	open := strings.HasPrefix(least, ">") || strings.HasPrefix(most, "<")
	switch {
	case least != "" && most != "" && open:
		return plain(least + ", " + most)
	case least != "" && most != "":
		return plain(least + "–" + most)
	case open:
		return plain(least + most)
	case least != "":
		return plain("≥ " + least)
	case most != "":
		return plain("≤ " + most)
	}
	return ""
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// badge is a state in one word, with a color that only supports the word.
type badge struct{ Tone, Text string }

// empty is what a page shows when there is nothing yet: why, and what to do first.
type empty struct {
	Title, Text string
	Commands    string // "": none
	Path, Label string // of the page to go to; "": none
}

// newEmpty is an empty page, with the path and the label of a link, or without.
func newEmpty(title, text, commands string, link ...string) empty {
	e := empty{Title: title, Text: text, Commands: commands}
	if len(link) == 2 {
		e.Path, e.Label = link[0], link[1]
	}
	return e
}

// plain shows untrusted text: invisible and direction characters are shown as code points.
func plain(s string) string { return visible.Text(s) }

// breakable is a name or a mask in which lines may break after an underscore or a comma.
func breakable(text string) template.HTML {
	return template.HTML(joints.ReplaceAllString(template.HTMLEscapeString(plain(text)), "$0<wbr>"))
}

var joints = regexp.MustCompile("_+|,")

// timeField is the field of a filter for a time. The gateway writes its own zone, of which scripts make the browser's.
type timeField struct {
	Name, Text string
	At         time.Time // zero: there is none
}

func timeFieldOf(name, value string) timeField {
	at, err := timeOf(value)
	if err != nil || at.IsZero() {
		return timeField{Name: name, Text: value}
	}
	return timeField{name, at.Local().Format("2006-01-02T15:04:05"), at}
}
