package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

//go:embed report.html
var page string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms":      milliseconds,
	"picture": picture,
	"open":    bad,
	"anchor":  anchor,
	"say":     label,
	"mark":    func(s run.Status) string { return marks[s] },
	"calls":   CallLines,
	"share":   func(part, all time.Duration) int { return int(100 * part / max(all, 1)) },
	"percent": func(s run.Share) string {
		if s.All == 0 {
			return "–"
		}
		return fmt.Sprintf("%d of %d", s.OK, s.All)
	},
}).Parse(page))

// labels are the words around a failure, for tests in Chinese.
var labels = map[string]string{
	"it failed before:": "之前的失败：", "code": "代码", "looked for": "查找", "expected": "应为", "got": "实际",
	"candidate": "候选", "score": "得分", "why": "原因", "tried, in this order:": "依次尝试：",
}

// label is such a word in the language of the test.
func label(lang locale.Language, word string) string {
	if lang == locale.Chinese {
		return labels[word]
	}
	return word
}

// marks tell how something ended also to those who do not see colors.
var marks = map[run.Status]string{
	run.Passed: "✓", run.Failed: "✗", run.Broken: "!", run.Skipped: "–", run.Flaky: "↻", run.Healed: "+", run.Noted: "~",
}

func bad(s run.Status) bool { return s == run.Failed || s == run.Broken }

func anchor(suite, one int) string { return fmt.Sprintf("case-%d-%d", suite+1, one+1) }

func milliseconds(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// CallLine is one call, or several equal ones in a row: steps look at the page until it is right.
type CallLine struct {
	Tool, Before, After, Error string // After is "" where nothing was fitted
	Times                      int
	Duration                   time.Duration
}

// CallLines are the calls of a step, as few as show them all.
func CallLines(list []run.CallRecord) (lines []CallLine) {
	for _, c := range list {
		line := CallLine{Tool: c.Tool, Before: compact(c.Before), After: compact(c.After), Error: c.Error}
		if line.After == line.Before {
			line.After = ""
		}
		n := len(lines)
		same := n > 0 && line == CallLine{Tool: lines[n-1].Tool, Before: lines[n-1].Before, After: lines[n-1].After, Error: lines[n-1].Error}
		if !same {
			lines = append(lines, line)
			n++
		}
		lines[n-1].Times++
		lines[n-1].Duration += c.Duration.Duration
	}
	return lines
}

// compact is JSON without the white space that a file of it may have.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// failedCase is where to find what went wrong.
type failedCase struct{ Anchor, Case, Suite, File string }

// HTML writes one page that needs nothing beside itself and runs no script.
func HTML(w io.Writer, results []*run.Result) error {
	data := struct {
		Totals   Totals
		Bad      int
		When     string
		Took     time.Duration
		Failures []failedCase
		Results  []*run.Result
	}{Totals: Count(results), Results: results}
	data.Bad = data.Totals.Failed + data.Totals.Errors
	var first, last time.Time
	for i, r := range results {
		if end := r.Started.Add(r.Duration.Duration); end.After(last) {
			last = end
		}
		if first.IsZero() || r.Started.Before(first) {
			first = r.Started
		}
		for j, c := range r.Cases {
			if bad(c.Status) {
				data.Failures = append(data.Failures, failedCase{anchor(i, j), c.Name, r.Name, r.File})
			}
		}
	}
	data.When = first.Format("2006-01-02 15:04:05 MST")
	data.Took = last.Sub(first)
	if err := tmpl.Execute(w, data); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// picture is an image as an address. Only what a server calls a picture becomes one.
func picture(i *run.Image) template.URL {
	return template.URL("data:" + i.Kind() + ";base64," + base64.StdEncoding.EncodeToString(i.Data))
}
