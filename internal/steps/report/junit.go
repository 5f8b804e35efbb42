package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/steps/run"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class      string           `xml:"classname,attr"`
	Name       string           `xml:"name,attr"`
	Time       string           `xml:"time,attr"`
	Properties *junitProperties `xml:"properties"`
	Skipped    *junitSkipped    `xml:"skipped"`
	Failure    *junitProblem    `xml:"failure"`
	Error      *junitProblem    `xml:"error"`
	Out        string           `xml:"system-out,omitempty"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
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
	all := junitSuites{Tests: t.Tests, Failures: t.Failed, Errors: t.Errors, Skipped: t.Skipped}
	var total time.Duration
	for _, r := range results {
		total += r.Duration
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
	s := junitSuite{Name: legal(r.File), Tests: t.Tests, Failures: t.Failed, Errors: t.Errors, Skipped: t.Skipped, Time: timeOf(r.Duration), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	class := strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))
	for i := range r.Cases {
		s.Cases = append(s.Cases, caseOf(class, &r.Cases[i]))
	}
	return s
}

func caseOf(class string, c *run.CaseResult) junitCase {
	out := junitCase{Class: legal(class), Name: legal(c.Name), Time: timeOf(c.Duration), Out: legal(stepLog(c))}
	if c.Healed {
		out.property("healed", "true")
	}
	if c.Status == run.Flaky {
		out.property("flaky", "true")
	}
	switch c.Status {
	case run.Skipped:
		out.Skipped = &junitSkipped{legal(c.Reason)}
	case run.Failed:
		out.Failure = problemOf(c)
	case run.Broken:
		out.Error = problemOf(c)
	}
	return out
}

func (c *junitCase) property(name, value string) {
	if c.Properties == nil {
		c.Properties = &junitProperties{}
	}
	c.Properties.List = append(c.Properties.List, junitProperty{name, value})
}

func problemOf(c *run.CaseResult) *junitProblem {
	p := &junitProblem{Type: c.Error.Type, Message: legal(oneLine(c.Error.Message))}
	if c.Error.Details.Code != "" {
		p.Type = string(c.Error.Details.Code)
	}
	var b strings.Builder
	fmt.Fprintln(&b, c.Error.Message)
	for _, s := range c.Steps {
		if s.Status != run.Failed {
			continue
		}
		fmt.Fprintf(&b, "step: %s (%s:%d)\n", s.Text, s.File, s.Line)
		for _, cand := range s.Candidates {
			fmt.Fprintf(&b, "candidate: %s (%.2f, %s)\n", cand.Path, cand.Score, cand.Why)
		}
	}
	p.Text = legal(b.String())
	return p
}

func stepLog(c *run.CaseResult) string {
	var b strings.Builder
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "%-7s %6d ms  %s", s.Status, s.Duration.Milliseconds(), oneLine(s.Text))
		if s.Element != nil {
			fmt.Fprintf(&b, "  [%s %s]", s.Element.Role, s.Element.Name)
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(&b, "  (%s)", oneLine(w))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func timeOf(d time.Duration) string { return fmt.Sprintf("%.3f", seconds(d)) }

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
