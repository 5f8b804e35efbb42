package trial

import (
	"encoding/json"
	"fmt"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// pageSteps is how many steps a page of a run has. A case without steps takes the place of one.
	pageSteps = 300
	// maxBad is how many failed cases a page names.
	maxBad = 100
)

// Page is one page of a run. Its Results are empty, and other steps are not decoded.
type Page struct {
	*Run
	Number, Last int // of the page, from 1
	Calls, Finds run.Share
	Choices      run.Share
	Suites       []PageSuite
	Bad          []BadCase // of all pages
}

// PageSuite is a suite with its cases on the page.
type PageSuite struct {
	run.Result
	Cases []PageCase
}

// PageCase is a case with its steps on the page.
type PageCase struct {
	run.CaseResult
	Anchor        string
	First         int // the number of its first step on the page
	Before, After int // steps that are on other pages
}

// BadCase is a case that failed, and where it is.
type BadCase struct {
	Anchor, Name, Message string
	Page                  int
}

// unread is a report whose steps are not decoded.
type unread struct {
	Results []struct {
		run.Result
		Cases []struct {
			run.CaseResult
			Steps []json.RawMessage `json:"steps"`
		} `json:"cases"`
	} `json:"results"`
	Sources map[string]string `json:"sources"`
	Settings
}

// ReadPage reads one page of a run. A number beyond the last means the last.
func ReadPage(row store.Run, number int) (*Page, error) {
	k, err := readSummary(row)
	if err != nil {
		return nil, err
	}
	var all unread
	if len(row.Report) > 0 {
		if err := json.Unmarshal(row.Report, &all); err != nil {
			return nil, fmt.Errorf("read run %s: %w", row.ID, err)
		}
	}
	k.Sources = all.Sources
	k.Settings = all.Settings
	p := &Page{Run: k, Last: all.pages()}
	p.Number = min(max(number, 1), p.Last)
	return p, p.add(&all)
}

// pages is how many there are.
func (u *unread) pages() int {
	places := 0
	for _, r := range u.Results {
		for _, c := range r.Cases {
			places += max(1, len(c.Steps))
		}
	}
	return max(1, (places+pageSteps-1)/pageSteps)
}

// add puts what belongs on the page there.
func (p *Page) add(all *unread) error {
	from := (p.Number - 1) * pageSteps
	place := 0 // of the current case
	step := 0
	for i, r := range all.Results {
		p.Calls.Add(r.Metrics.Calls)
		p.Finds.Add(r.Metrics.Finds)
		p.Choices.Add(r.Metrics.Choices)
		suite := PageSuite{Result: r.Result}
		for j := range r.Cases {
			c := &r.Cases[j]
			one := PageCase{CaseResult: c.CaseResult, Anchor: fmt.Sprintf("case-%d-%d", i+1, j+1)}
			p.addBad(&one, place)
			takes := max(1, len(c.Steps))
			if place < from+pageSteps && place+takes > from {
				if err := one.read(c.Steps, from-place, step); err != nil {
					return fmt.Errorf("read run %s: %w", p.ID, err)
				}
				suite.Cases = append(suite.Cases, one)
			}
			place += takes
			step += len(c.Steps)
		}
		if len(suite.Cases) > 0 {
			p.Suites = append(p.Suites, suite)
		}
	}
	return nil
}

// addBad names a case that failed and begins at a place.
func (p *Page) addBad(c *PageCase, place int) {
	if c.Status != run.Failed && c.Status != run.Broken || len(p.Bad) == maxBad {
		return
	}
	bad := BadCase{Anchor: c.Anchor, Name: c.Name, Page: place/pageSteps + 1}
	if c.Error != nil {
		bad.Message = c.Error.Message
	}
	p.Bad = append(p.Bad, bad)
}

// read decodes the steps of the case that are on a page, which begins skip steps into it; before is
// the number of steps before the case.
func (c *PageCase) read(list []json.RawMessage, skip, before int) error {
	from := max(0, skip)
	to := min(len(list), skip+pageSteps)
	c.Before = from
	c.After = len(list) - to
	c.First = before + from + 1
	for _, raw := range list[min(from, to):to] {
		var s run.StepResult
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		c.Steps = append(c.Steps, s)
	}
	return nil
}
