package store

import (
	"context"
	"database/sql"

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
		const insert = "INSERT INTO run_pictures (run, step, type, data) VALUES ($1, $2, $3, $4)"
		if _, err := tx.ExecContext(ctx, insert, run, p.Step, p.Type, notNull(p.Data)); err != nil {
			return err
		}
	}
	return nil
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
	read := func(scan scanner) (p RunPicture, err error) {
		err = scan(&p.Step, &p.Type, &p.Data)
		return p, err
	}
	return list(ctx, s, "read the pictures of run "+run, read, "SELECT step, type, data FROM run_pictures WHERE run = $1 ORDER BY step", run)
}
