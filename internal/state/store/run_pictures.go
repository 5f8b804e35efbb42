package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// RunPicture is a picture of the page at a step of a run.
type RunPicture struct {
	Step int // its number over all steps of the run, from 1
	Type string
	Data []byte
}

// savePictures stores the pictures of a run in place of those that it had.
func savePictures(ctx context.Context, tx *sql.Tx, run string, list []RunPicture) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM run_pictures WHERE run = $1", run); err != nil {
		return err
	}
	for _, p := range list {
		if _, err := tx.ExecContext(ctx, "INSERT INTO run_pictures (run, step, type, data) VALUES ($1, $2, $3, $4)", run, p.Step, p.Type, notNull(p.Data)); err != nil {
			return err
		}
	}
	return nil
}

// RunPicture returns the picture of one step; that there is none is a fault.NotFound.
func (s *Store) RunPicture(ctx context.Context, run string, step int) (RunPicture, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	p := RunPicture{Step: step}
	err := s.read.QueryRowContext(ctx, "SELECT type, data FROM run_pictures WHERE run = $1 AND step = $2", run, step).Scan(&p.Type, &p.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return p, fault.New(fault.NotFound, "run %.100q has no picture of its step %d", run, step)
	}
	return p, s.explain("read a picture of run "+run, err)
}

// RunPictures returns all pictures of a run, in the order of its steps.
func (s *Store) RunPictures(ctx context.Context, run string) ([]RunPicture, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := s.read.QueryContext(ctx, "SELECT step, type, data FROM run_pictures WHERE run = $1 ORDER BY step", run)
	if err != nil {
		return nil, s.explain("read the pictures of run "+run, err)
	}
	defer rows.Close()
	var found []RunPicture
	for rows.Next() {
		var p RunPicture
		if err := rows.Scan(&p.Step, &p.Type, &p.Data); err != nil {
			return nil, s.explain("read the pictures of run "+run, err)
		}
		found = append(found, p)
	}
	return found, s.explain("read the pictures of run "+run, rows.Err())
}
