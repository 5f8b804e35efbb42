package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// The elements are those that all build servers read; healed, flaky and found by a model are
// properties of the suite.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitCase struct {
	Class   string         `xml:"classname,attr"`
	Name    string         `xml:"name,attr"`
	Time    string         `xml:"time,attr"`
	Skipped *junitSkipped  `xml:"skipped"`
	Failure *junitProblem  `xml:"failure"`
	Error   *junitProblem  `xml:"error"`
	Flaky   []junitProblem `xml:"flakyFailure"` // of a case that passed at last
	Rerun   []junitProblem `xml:"rerunFailure"` // of one that did not
	Out     string         `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitSkipped struct {
	Message string `xml:"message,attr,omitempty"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the results in the form that build servers read.
func JUnit(w io.Writer, results []*run.Result) error {
	t := Count(results)
	all := junitSuites{Tests: t.Tests, Failures: t.Failed, Errors: t.Errors}
	var total time.Duration
	for _, r := range results {
		total += r.Duration.Duration
		all.Suites = append(all.Suites, suiteOf(r))
	}
	all.Time = timeOf(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func suiteOf(r *run.Result) junitSuite {
	t := Count([]*run.Result{r})
	s := junitSuite{
		Name: legal(r.File), Tests: t.Tests, Failures: t.Failed, Errors: t.Errors, Skipped: t.Skipped,
		Time: timeOf(r.Duration.Duration), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	class := legal(className(r.File))
	seen := map[string]int{}
	for i := range r.Cases {
		c := &r.Cases[i]
		one := caseOf(class, c, r.Language)
		for name := one.Name; seen[one.Name] > 0; { // build servers drop the second of one name
			seen[name]++
			one.Name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		seen[one.Name]++
		s.note("healed", one.Name, c.Healed)
		s.note("flaky", one.Name, c.Status == run.Flaky)
		s.note("found by a model", one.Name, slices.ContainsFunc(c.Steps, ByModel))
		s.Cases = append(s.Cases, one)
	}
	return s
}

// className is a file as the name of a class, so that files of one name in two folders differ.
func className(file string) string {
	path := strings.TrimSuffix(filepath.ToSlash(filepath.Clean(file)), filepath.Ext(file))
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' })
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "." || part == ".." })
	return strings.Join(parts, ".")
}

// note says something of a case where that holds.
func (s *junitSuite) note(what, name string, holds bool) {
	if holds {
		s.Properties = append(s.Properties, junitProperty{what, name})
	}
}

func caseOf(class string, c *run.CaseResult, lang locale.Language) junitCase {
	out := junitCase{Class: class, Name: legal(c.Name), Time: timeOf(c.Duration.Duration), Out: legal(stepLog(c))}
	var earlier []junitProblem
	for _, e := range c.Earlier {
		earlier = append(earlier, problemOf(e, e.Message))
	}
	switch c.Status {
	case run.Skipped:
		out.Skipped = &junitSkipped{legal(c.Reason)}
	case run.Flaky:
		out.Flaky = earlier
	case run.Failed, run.Broken:
		p := problemOf(c.Error, failureText(c, lang))
		out.Rerun = earlier
		if c.Status == run.Failed {
			out.Failure = &p
		} else {
			out.Error = &p
		}
	}
	return out
}

func problemOf(e *run.Error, text string) junitProblem {
	kind := e.Type
	if e.Details.Code != "" {
		kind = string(e.Details.Code)
	}
	return junitProblem{Type: legal(kind), Message: legal(oneLine(e.Message)), Text: legal(text)}
}

// failureText is what a failed case says beside its message: its step and the candidates.
func failureText(c *run.CaseResult, lang locale.Language) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintln(&b, lang.Translate(fmt.Sprintf(format, args...))) }
	for _, s := range c.Steps {
		if s.Status != run.Failed {
			continue
		}
		say("step: %s [%s:%d]", s.Text, s.File, s.Line)
		for _, cand := range s.Candidates {
			say("candidate: %s [%.2f, %s]", cand.Path, cand.Score, cand.Why)
		}
	}
	return b.String()
}

func stepLog(c *run.CaseResult) string {
	var b strings.Builder
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "%-7s %6d ms  %s", s.Status, s.Duration.Milliseconds(), oneLine(s.Text))
		if s.Element != nil {
			fmt.Fprintf(&b, "  [%s]", strings.TrimSpace(s.Element.Role+" "+oneLine(s.Element.Name)))
		}
		if ByModel(s) {
			b.WriteString("  found by a model")
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(&b, "  (%s)", oneLine(w))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func timeOf(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// legal drops the characters that XML 1.0 does not have.
func legal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF || r == '\ufffd':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
