package form

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// inputTypes are the types of inputs for formats.
var inputTypes = map[string]string{
	"date": "date", "time": "time", "date-time": "datetime-local", "email": "email", "idn-email": "email", "uri": "url", "url": "url",
	"password": "password",
}

// longWords are names of strings that have many lines as a rule.
var longWords = []string{
	"body", "code", "content", "contents", "css", "html", "markdown", "markup", "message", "patch", "diff", "prompt", "query", "script", "source",
	"sql", "template", "text", "xml", "yaml", "json",
}

// text chooses the input for a string.
func (f *Field) text(p *spec, posted url.Values) {
	format := p.str("format")
	f.Type = inputTypes[format]
	if f.Type == "" {
		f.Type = "text"
		if isLong(f, p) || strings.ContainsRune(f.Value, '\n') {
			f.Kind = Long
		}
		return
	}
	if f.Type == "datetime-local" || f.Type == "time" {
		f.Zoned = true
		f.Zone = "Z"
		if zones := posted[inZone+f.Input]; len(zones) > 0 {
			f.Zone = strings.TrimSpace(zones[0])
		}
	}
	if f.Value != "" && !shown(f.Type, f.Value) {
		f.Type = "text" // the input would not show it
		f.Zoned = false
		if strings.ContainsRune(f.Value, '\n') {
			f.Kind = Long
		}
	}
}

// isLong tells whether a string may well have several lines.
func isLong(f *Field, p *spec) bool {
	const oneLine = 200
	if n, err := strconv.Atoi(f.Full); err == nil {
		return n > oneLine
	}
	if p.has("contentMediaType") || slices.Contains([]string{"markdown", "html", "textarea", "multiline", "code", "sql"}, p.str("format")) {
		return true
	}
	help := strings.ToLower(f.Help)
	return p.str("format") == "" && !p.has("pattern") && slices.Contains(longWords, strings.ToLower(f.Name)) ||
		strings.Contains(help, "multi-line") || strings.Contains(help, "multiline")
}

var seconds = regexp.MustCompile(`^(.*T)?\d\d:\d\d(:\d\d)?$`)

// shown tells whether an input of the type shows the value as it is. Browsers empty those of dates and times that hold
// anything else.
func shown(kind, value string) bool {
	layout := ""
	switch kind {
	case "date":
		layout = time.DateOnly
	case "time":
		layout = "15:04"
	case "datetime-local":
		layout = "2006-01-02T15:04"
	default:
		return value == strings.TrimSpace(value) && !strings.ContainsAny(value, "\r\n")
	}
	if kind != "date" {
		if !seconds.MatchString(value) {
			return false
		}
		if strings.Count(value, ":") == 2 {
			layout += ":05"
		}
	}
	at, err := time.Parse(layout, value)
	return err == nil && (kind == "time" || at.Year() > 0)
}

var zone = regexp.MustCompile(`(Z|[+-]\d\d:\d\d)?$`)

// splitZone splits a time with a zone.
func splitZone(text string) (local, in string) {
	at := zone.FindStringIndex(text)[0]
	return text[:at], text[at:]
}

// stamp is a time as schemas want it: with seconds, and its zone.
func (f *Field) stamp() string {
	text := f.Value
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	return text + f.Zone
}
