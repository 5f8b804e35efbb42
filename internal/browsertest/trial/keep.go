package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Store keeps runs.
type Store interface {
	SaveRun(ctx context.Context, r store.Run) error
	ChangeOutcome(ctx context.Context, run, from, to string) (bool, error)
}

// The outcomes of a run.
const (
	Running     = "running"
	Passed      = "passed"
	Failed      = "failed"
	Interrupted = "interrupted" // it was canceled, or the gateway that ran it died
)

// Run is a run as it is kept.
type Run struct {
	ID       string
	At       time.Time
	Duration time.Duration
	Outcome  string
	Summary
	Report
}

// Summary is what a list of runs shows.
type Summary struct {
	Name      string        `json:"name"`
	Principal string        `json:"principal"`
	Profile   string        `json:"profile"`
	Files     []string      `json:"files"`
	Cases     int           `json:"cases"` // that were to be run; rows of data count in the totals
	Totals    report.Totals `json:"totals"`
}

// Report is all of a run.
type Report struct {
	Results []*run.Result     `json:"results"`
	Sources map[string]string `json:"sources,omitempty"` // the files, to run them again
	Settings
}

// Event is something that happened to a run.
type Event struct {
	Type      string        `json:"-"` // run.started, run.case or run.finished
	At        time.Time     `json:"-"`
	Principal string        `json:"principal"`
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Outcome   string        `json:"outcome"`
	Case      string        `json:"case,omitempty"`
	Status    run.Status    `json:"status,omitempty"` // of the case
	Totals    report.Totals `json:"totals"`
}

// The types of events.
const (
	RunStarted  = "run.started"
	RunCase     = "run.case"
	RunFinished = "run.finished"
)

// Lease is the lease under which a run is under way.
func Lease(run string) store.Home { return store.Home{Kind: store.RunLease, Key: run} }

// ErrCanceled ends a run that somebody no longer wants.
var ErrCanceled = fault.New(fault.Canceled, "the run was canceled")

// begin makes the record of a run that starts now. A run without a lease goes on, but others believe that
// it was interrupted until it ends.
func (l *Lab) begin(ctx context.Context, o *Order) (*Run, *replicas.Lease) {
	k := &Run{ID: l.newID(), At: l.now(), Outcome: Running}
	k.Summary = Summary{Name: o.Name, Principal: o.Who.ID, Profile: o.Profile}
	k.Report = Report{Sources: o.Sources, Settings: o.settings()}
	for _, s := range o.Suites {
		k.Files = append(k.Files, s.File)
		k.Cases += len(s.Cases)
	}
	if k.Name == "" && len(o.Suites) > 0 {
		k.Name = o.Suites[0].Name
	}
	lease, err := l.parts.Leases.Take(ctx, Lease(k.ID), nil)
	if err != nil {
		lease = replicas.Unheld(ctx)
	}
	l.save(context.Background(), k, false)
	l.tell(k, RunStarted, "", "")
	return k, lease
}

// caseDone counts a case and gives a sign of life.
func (l *Lab) caseDone(k *Run, file string, c run.CaseResult) {
	t := report.Count([]*run.Result{{File: file, Cases: []run.CaseResult{c}}})
	k.Totals.Add(t)
	k.Duration = l.now().Sub(k.At)
	l.save(context.Background(), k, false)
	l.tell(k, RunCase, c.Name, c.Status)
}

// finish keeps the whole run, also when whoever wanted it has left.
func (l *Lab) finish(ctx context.Context, k *Run) error {
	k.Totals = report.Count(k.Results)
	k.Duration = l.now().Sub(k.At)
	k.Outcome = Passed
	for _, r := range k.Results {
		if !r.Passed() {
			k.Outcome = Failed
		}
		l.parts.Metrics.observe(r)
	}
	if k.Outcome == Failed && ctx.Err() != nil {
		k.Outcome = Interrupted
	}
	err := l.save(context.WithoutCancel(ctx), k, true)
	l.tell(k, RunFinished, "", "")
	return err
}

// EndLost notes that a run was interrupted, because the gateway that ran it died.
func (l *Lab) EndLost(ctx context.Context, row store.Run) error {
	changed, err := l.parts.Store.ChangeOutcome(ctx, row.ID, Running, Interrupted)
	if err != nil || !changed {
		return err
	}
	row.Outcome = Interrupted
	k, err := readSummary(row)
	if err == nil {
		l.tell(k, RunFinished, "", "")
	}
	return err
}

func (l *Lab) tell(k *Run, what, name string, status run.Status) {
	l.parts.Tell(Event{
		Type: what, At: l.now(), Principal: k.Principal, ID: k.ID, Name: k.Name, Outcome: k.Outcome, Case: name, Status: status, Totals: k.Totals,
	})
}

// saveLimit is how long the store may take.
const saveLimit = 30 * time.Second

// save writes the run, whole or as far as it is known. Only the whole one must be kept.
func (l *Lab) save(ctx context.Context, k *Run, whole bool) error {
	if l.parts.Store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	row := store.Run{ID: k.ID, At: k.At, Name: k.Name, Outcome: k.Outcome, Duration: k.Duration}
	var err error
	if row.Summary, err = json.Marshal(k.Summary); err != nil {
		return fmt.Errorf("encode run %s: %w", k.ID, err)
	}
	if whole {
		if row.Report, row.Pictures, err = parted(k.Report); err != nil {
			return fmt.Errorf("encode run %s: %w", k.ID, err)
		}
	}
	if err := l.parts.Store.SaveRun(ctx, row); err != nil {
		return fmt.Errorf("keep run %s: %w", k.ID, err)
	}
	return nil
}

// Read is a run of the store as it was kept, without the pictures that are kept apart.
func Read(row store.Run) (*Run, error) {
	k, err := readSummary(row)
	if err != nil || len(row.Report) == 0 {
		return k, err
	}
	if err := json.Unmarshal(row.Report, &k.Report); err != nil {
		return nil, fmt.Errorf("read run %s: %w", row.ID, err)
	}
	return k, nil
}

// readSummary is a run without its report.
func readSummary(row store.Run) (*Run, error) {
	k := &Run{ID: row.ID, At: row.At, Duration: row.Duration, Outcome: row.Outcome}
	if err := json.Unmarshal(row.Summary, &k.Summary); err != nil {
		return nil, fmt.Errorf("read run %s: %w", row.ID, err)
	}
	k.Name = row.Name
	return k, nil
}
