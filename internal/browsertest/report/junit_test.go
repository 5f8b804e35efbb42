package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// element is what the schemas of build servers have in common of one.
type element struct{ must, may, holds []string }

var junitSchema = map[string]element{
	"testsuites": {nil, []string{"name", "time", "tests", "failures", "errors"}, []string{"testsuite"}},
	"testsuite": {[]string{"name", "tests", "failures", "errors"}, []string{"time", "skipped", "timestamp"},
		[]string{"properties", "testcase"}},
	"properties": {nil, nil, []string{"property"}},
	"property":   {[]string{"name", "value"}, nil, nil},
	"testcase": {[]string{"name", "classname"}, []string{"time"},
		[]string{"skipped", "error", "failure", "flakyFailure", "rerunFailure", "system-out"}},
	"skipped":      {nil, []string{"message"}, nil},
	"failure":      {[]string{"type"}, []string{"message"}, nil},
	"error":        {[]string{"type"}, []string{"message"}, nil},
	"flakyFailure": {[]string{"type"}, []string{"message"}, nil},
	"rerunFailure": {[]string{"type"}, []string{"message"}, nil},
	"system-out":   {nil, nil, nil},
}

var junitTime = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)

// checkJUnit holds a report to the schema.
func checkJUnit(t *testing.T, text []byte) {
	t.Helper()
	parents := []string{""}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name, parent := e.Name.Local, parents[len(parents)-1]
			if parent == "" && name != "testsuites" || parent != "" && !slices.Contains(junitSchema[parent].holds, name) {
				t.Errorf("%s in %q", name, parent)
			}
			checkAttributes(t, e)
			parents = append(parents, name)
		case xml.EndElement:
			parents = parents[:len(parents)-1]
		}
	}
}

func checkAttributes(t *testing.T, e xml.StartElement) {
	t.Helper()
	known, has := junitSchema[e.Name.Local], map[string]string{}
	for _, a := range e.Attr {
		has[a.Name.Local] = a.Value
		if !slices.Contains(known.must, a.Name.Local) && !slices.Contains(known.may, a.Name.Local) {
			t.Errorf("%s has %s", e.Name.Local, a.Name.Local)
		}
	}
	for _, must := range known.must {
		if has[must] == "" {
			t.Errorf("%s has no %s", e.Name.Local, must)
		}
	}
	if at := has["time"]; at != "" && !junitTime.MatchString(at) {
		t.Errorf("%s took %q", e.Name.Local, at)
	}
}

type junitReport struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Skipped    int `xml:"skipped,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases []struct {
			Class   string `xml:"classname,attr"`
			Name    string `xml:"name,attr"`
			Failure *struct {
				Type string `xml:"type,attr"`
				Text string `xml:",chardata"`
			} `xml:"failure"`
			Error   *struct{}  `xml:"error"`
			Skipped *struct{}  `xml:"skipped"`
			Flaky   []struct{} `xml:"flakyFailure"`
			Out     string     `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func writeJUnit(t *testing.T, list []*run.Result) (got junitReport) {
	t.Helper()
	var b bytes.Buffer
	if err := report.JUnit(&b, list); err != nil {
		t.Fatal(err)
	}
	checkJUnit(t, b.Bytes())
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestJUnitIsXMLThatBuildServersRead(t *testing.T) {
	got := writeJUnit(t, results())
	if got.Tests != 5 || got.Failures != 1 || got.Errors != 1 || got.Suites[0].Skipped != 1 {
		t.Errorf("%+v", got)
	}
	cases := got.Suites[0].Cases
	if len(cases) != 5 || cases[0].Class != "tests.login" || cases[1].Failure == nil || cases[1].Failure.Type != "ELEMENT_NOT_FOUND" ||
		!strings.Contains(cases[1].Failure.Text, "candidate: ") || cases[2].Error == nil || cases[3].Skipped == nil {
		t.Errorf("%+v", cases)
	}
	if len(cases[4].Flaky) != 1 || !strings.Contains(cases[4].Out, "found by a model") {
		t.Errorf("%+v", cases[4])
	}
	var notes []string
	for _, p := range got.Suites[0].Properties {
		notes = append(notes, p.Name+": "+p.Value)
	}
	if want := []string{"healed: good", "flaky: flaky", "found by a model: flaky"}; !slices.Equal(notes, want) {
		t.Errorf("the properties are %q, want %q", notes, want)
	}
	writeJUnit(t, nil)
}

func TestNoTwoCasesOfJUnitAreOfOneName(t *testing.T) {
	one := run.CaseResult{Name: "sign in", Status: run.Passed, Duration: run.Took{Duration: 100 * time.Hour}}
	seen := map[string]bool{}
	for _, s := range writeJUnit(t, []*run.Result{
		{File: "a/login.yaml", Cases: []run.CaseResult{one, one, {Name: "sign in (2)", Status: run.Passed}, one}},
		{File: "./b/login.yaml", Cases: []run.CaseResult{one}},
		{File: "../login.v2.yaml", Cases: []run.CaseResult{one}}, {File: "/srv/测试/login.md", Cases: []run.CaseResult{one}},
	}).Suites {
		for _, c := range s.Cases {
			if seen[c.Class+" "+c.Name] {
				t.Errorf("%s %s is there twice", c.Class, c.Name)
			}
			seen[c.Class+" "+c.Name] = true
		}
	}
	for _, want := range []string{"a.login sign in", "a.login sign in (3)", "b.login sign in", "login.v2 sign in", "srv.测试.login sign in"} {
		if !seen[want] {
			t.Errorf("%s is not there, but %v", want, seen)
		}
	}
}
