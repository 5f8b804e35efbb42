package run

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Status is how something ended.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Broken  Status = "error" // the browser or its server, not the page
	Skipped Status = "skipped"
	Flaky   Status = "flaky"  // passed when it was repeated
	Healed  Status = "healed" // passed another way than it was written
	Noted   Status = "noted"  // failed, and was optional
)

// Took is a duration that JSON has in milliseconds.
type Took struct{ time.Duration }

func (t Took) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(t.Microseconds()) / 1000)
}

func (t *Took) UnmarshalJSON(b []byte) error {
	var ms float64
	err := json.Unmarshal(b, &ms)
	t.Duration = time.Duration(ms * float64(time.Millisecond))
	return err
}

// NotBegun is why a case was left out when the run was ended.
const NotBegun = "the run was ended before this case"

// Result is a suite that was run. Secrets are masked in all of it.
type Result struct {
	RunID    string          `json:"runId"`
	File     string          `json:"file"`
	Name     string          `json:"name"`
	Language locale.Language `json:"language,omitempty"` // that of the test, in which failures are told
	Started  time.Time       `json:"started"`
	Duration Took            `json:"duration_ms"`
	Cases    []CaseResult    `json:"cases"`
	Metrics  Metrics         `json:"metrics"`
}

// Passed tells whether no case failed, or was left out because the run was ended.
func (r *Result) Passed() bool {
	return !slices.ContainsFunc(r.Cases, func(c CaseResult) bool {
		return c.Status == Failed || c.Status == Broken || c.Reason == NotBegun
	})
}

// CaseResult is one case, or one row of its data.
type CaseResult struct {
	Name     string          `json:"name"`
	Language locale.Language `json:"-"` // that of its suite
	Tags     []string        `json:"tags,omitempty"`
	Line     int             `json:"line,omitempty"`
	Status   Status          `json:"status"`
	Reason   string          `json:"reason,omitempty"` // why it was left out
	Attempts int             `json:"attempts"`
	Healed   bool            `json:"healed,omitempty"`
	Started  time.Time       `json:"started"`
	Duration Took            `json:"duration_ms"`
	Error    *Error          `json:"error,omitempty"`
	Earlier  []*Error        `json:"earlier,omitempty"` // of the attempts before the last
	Trace    string          `json:"trace,omitempty"`   // what the server says of its recording
	Steps    []StepResult    `json:"steps,omitempty"`
}

// StepResult is one step.
type StepResult struct {
	Text       string           `json:"text"`
	File       string           `json:"file,omitempty"`
	Line       int              `json:"line,omitempty"`
	Action     steps.Action     `json:"action"`
	Status     Status           `json:"status"`
	Duration   Took             `json:"duration_ms"`
	Element    *Element         `json:"element,omitempty"`
	Candidates []find.Candidate `json:"candidates,omitempty"`
	Calls      []CallRecord     `json:"calls,omitempty"`
	Warnings   []string         `json:"warnings,omitempty"`
	Failures   []string         `json:"failures,omitempty"` // of the command and its fallbacks, in order
	Error      *Error           `json:"error,omitempty"`
	Screenshot *Image           `json:"screenshot,omitempty"`
}

// Element is the one that a step used.
type Element struct {
	Role  string  `json:"role"`
	Name  string  `json:"name"`
	Path  string  `json:"path,omitempty"`
	Score float64 `json:"score"`
	Why   string  `json:"why"`
	By    string  `json:"by,omitempty"` // model: not the words decided, but a model
}

// CallRecord is one call to the server, before and after fitting.
type CallRecord struct {
	Tool     string          `json:"tool"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	Duration Took            `json:"duration_ms"`
	Error    string          `json:"error,omitempty"`
}

// Image is a picture of the page.
type Image struct {
	Type string `json:"type"`
	Size int    `json:"size,omitempty"` // of a picture that is kept apart
	Data []byte `json:"data,omitempty"`
}

// Kind is the image's type, of those that browsers show as pictures and never run.
func (i *Image) Kind() string {
	if i.Type == "image/jpeg" || i.Type == "image/webp" {
		return i.Type
	}
	return "image/png"
}

// Metrics are counted over a suite.
type Metrics struct {
	Calls         Share                 `json:"calls"`
	Finds         Share                 `json:"finds"`
	Recoveries    Share                 `json:"recoveries"`
	Choices       Share                 `json:"choices"` // of a model that was asked
	Ambiguous     int                   `json:"ambiguous"`
	Stale         int                   `json:"stale"`
	Healed        int                   `json:"healed"`
	Flaky         int                   `json:"flaky"`
	CacheHits     int                   `json:"cacheHits"`
	Snapshots     int                   `json:"snapshots"`
	SnapshotBytes int                   `json:"snapshotBytes"`
	Conversion    [len(buckets) + 1]int `json:"conversion"` // fitting of arguments, by Buckets
}

// Share is successes over attempts.
type Share struct {
	OK  int `json:"ok"`
	All int `json:"all"`
}

// Add adds another share.
func (s *Share) Add(more Share) {
	s.OK += more.OK
	s.All += more.All
}

func (s *Share) count(ok bool) {
	s.All++
	if ok {
		s.OK++
	}
}

// buckets are the upper bounds of conversion times.
var buckets = [...]time.Duration{
	100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond,
}

// Buckets are the upper bounds of Metrics.Conversion in seconds; the last count is of all above.
func Buckets() (list []float64) {
	for _, b := range buckets {
		list = append(list, b.Seconds())
	}
	return list
}

func (m *Metrics) converted(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d)
	m.Conversion[i]++
}

// Add puts the cases of another part of the same suite behind these.
func (r *Result) Add(more *Result) {
	end := r.Started.Add(r.Duration.Duration)
	if e := more.Started.Add(more.Duration.Duration); e.After(end) {
		end = e
	}
	if more.Started.Before(r.Started) {
		r.Started = more.Started
	}
	r.Duration = Took{end.Sub(r.Started)}
	r.Cases = append(r.Cases, more.Cases...)
	r.Metrics.add(&more.Metrics)
}

func (m *Metrics) add(n *Metrics) {
	to := m.counts()
	for i, from := range n.counts() {
		*to[i] += *from
	}
}

// counts are all the numbers.
func (m *Metrics) counts() []*int {
	list := []*int{&m.Ambiguous, &m.Stale, &m.Healed, &m.Flaky, &m.CacheHits, &m.Snapshots, &m.SnapshotBytes}
	for _, s := range []*Share{&m.Calls, &m.Finds, &m.Recoveries, &m.Choices} {
		list = append(list, &s.OK, &s.All)
	}
	for i := range m.Conversion {
		list = append(list, &m.Conversion[i])
	}
	return list
}

// Cases are the cases of results.
func Cases(results []*Result) iter.Seq[*CaseResult] {
	return func(yield func(*CaseResult) bool) {
		for _, r := range results {
			for i := range r.Cases {
				if !yield(&r.Cases[i]) {
					return
				}
			}
		}
	}
}

// Steps are the steps of all cases, each with its number, from 1.
func Steps(results []*Result) iter.Seq2[int, *StepResult] {
	return func(yield func(int, *StepResult) bool) {
		number := 0
		for c := range Cases(results) {
			for i := range c.Steps {
				number++
				if !yield(number, &c.Steps[i]) {
					return
				}
			}
		}
	}
}

// Copies are the results with steps of their own, which may be changed.
func Copies(results []*Result) []*Result {
	out := make([]*Result, len(results))
	for i, r := range results {
		one := *r
		one.Cases = slices.Clone(r.Cases)
		for k := range one.Cases {
			one.Cases[k].Steps = slices.Clone(one.Cases[k].Steps)
		}
		out[i] = &one
	}
	return out
}
