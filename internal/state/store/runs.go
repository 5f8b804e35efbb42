package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Run is one run of browser tests.
type Run struct {
	ID       string
	At       time.Time // when it began; kept to the microsecond, as is the duration
	Name     string
	Outcome  string
	Duration time.Duration
	Summary  json.RawMessage
	Report   []byte       // nil in lists
	Pictures []RunPicture // only to save them
}

// Cursor is the Before of a page that goes on after this run.
func (r *Run) Cursor() string { return cursor(r.At, r.ID) }

// RunFilter chooses runs; a zero field does not filter.
type RunFilter struct {
	Name    string
	Outcome string
	Before  string // only what comes after the run with this Cursor
	Limit   int    // 0 means 100; at most 1000
}

const runColumns = "id, at, name, outcome, duration, summary"

// SaveRun stores the run and its pictures, replacing earlier ones.
func (s *Store) SaveRun(ctx context.Context, r Run) error {
	if err := checkName("the run's id", r.ID); err != nil {
		return err
	}
	const upsert = "INSERT INTO runs (" + runColumns + `, report) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET at = excluded.at, name = excluded.name, outcome = excluded.outcome,
			duration = excluded.duration, summary = excluded.summary, report = excluded.report`
	size := len(r.Summary) + len(r.Report)
	var pictures [][]any
	for _, p := range r.Pictures {
		pictures = append(pictures, []any{r.ID, p.Step, p.Type, notNull(p.Data)})
		size += len(p.Data)
	}
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, upsert,
			r.ID, micros(r.At), r.Name, r.Outcome, r.Duration.Microseconds(), notNull(r.Summary), notNull(r.Report))
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM run_pictures WHERE run = $1", r.ID); err != nil {
			return err
		}
		return s.insertRows(ctx, tx, "run_pictures (run, step, type, data)", "", pictures)
	})
	s.recordsGrown.add(size)
	return s.explain("save run "+r.ID, err)
}

// RunSummary returns one run without its report; an unknown id is a fault.NotFound.
func (s *Store) RunSummary(ctx context.Context, id string) (Run, error) {
	var r Run
	err := s.readRun(ctx, id, runColumns, r.columns())
	return r, err
}

// Run returns one run with its report; an unknown id is a fault.NotFound.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	var r Run
	err := s.readRun(ctx, id, runColumns+", report", append(r.columns(), &r.Report))
	return r, err
}

func (s *Store) readRun(ctx context.Context, id, columns string, into []any) error {
	missing := fault.New(fault.NotFound, "there is no run %.100q", id)
	return s.readOne(ctx, "read run "+id, missing, "SELECT "+columns+" FROM runs WHERE id = $1", []any{id}, into)
}

// columns are where the values of runColumns go.
func (r *Run) columns() []any {
	return []any{&r.ID, storedTime(&r.At), &r.Name, &r.Outcome, storedDuration(&r.Duration), (*[]byte)(&r.Summary)}
}

// Runs returns the runs that match, without their reports, the newest first.
func (s *Store) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	var w where
	w.equals("name", f.Name)
	w.equals("outcome", f.Outcome)
	if err := w.before(f.Before, "at", "id"); err != nil {
		return nil, err
	}
	read := func(scan scanner, r *Run) error {
		return scan(r.columns()...)
	}
	query := "SELECT " + runColumns + " FROM runs" + w.String() + " ORDER BY at DESC, id DESC" + w.limit(f.Limit)
	return list(ctx, s, "read runs", read, query, w.args...)
}

// TrimRuns deletes the runs before the given time, and the oldest beyond so many. Zero is no limit.
func (s *Store) TrimRuns(ctx context.Context, before time.Time, most int) (deleted int64, err error) {
	if !before.IsZero() {
		if deleted, err = s.exec(ctx, "DELETE FROM runs WHERE at < $1", micros(before)); err != nil {
			return deleted, s.explain("trim runs", err)
		}
	}
	if most > 0 {
		const over = "DELETE FROM runs WHERE (at, id) <= (SELECT at, id FROM runs ORDER BY at DESC, id DESC LIMIT 1 OFFSET $1)"
		n, err := s.exec(ctx, over, most)
		return deleted + n, s.explain("trim runs", err)
	}
	return deleted, nil
}

// RunPicture is a picture of the page at a step of a run.
type RunPicture struct {
	Step int // its number over all steps of the run, from 1
	Type string
	Data []byte
}

// RunPicture returns the picture of one step; a step without one is a fault.NotFound.
func (s *Store) RunPicture(ctx context.Context, run string, step int) (RunPicture, error) {
	p := RunPicture{Step: step}
	missing := fault.New(fault.NotFound, "run %.100q has no picture of its step %d", run, step)
	const query = "SELECT type, data FROM run_pictures WHERE run = $1 AND step = $2"
	err := s.readOne(ctx, "read a picture of run "+run, missing, query, []any{run, step}, []any{&p.Type, &p.Data})
	return p, err
}

// RunPictures returns all pictures of a run, in the order of its steps.
func (s *Store) RunPictures(ctx context.Context, run string) ([]RunPicture, error) {
	read := func(scan scanner, p *RunPicture) error {
		return scan(&p.Step, &p.Type, &p.Data)
	}
	return list(ctx, s, "read the pictures of run "+run, read, "SELECT step, type, data FROM run_pictures WHERE run = $1 ORDER BY step", run)
}
