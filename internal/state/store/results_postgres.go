package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// resultTable keeps results in the database, where every gateway finds them.
type resultTable struct{ store *Store }

const resultColumns = "ref, owner, call, server, tool, profile, session, rule, args, body, at, expires, size"

func (t resultTable) save(ctx context.Context, r *Result) error {
	sealed, args := t.store.opts.sealResult(nil, r)
	const insert = `INSERT INTO results (` + resultColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`
	return t.store.whileCalled(ctx, len(sealed), func(ctx context.Context) error {
		n, err := t.store.exec(ctx, insert, r.Ref, r.Owner, r.Call, string(r.Server), string(r.Tool), r.Profile, r.Session, r.Rule,
			sealed[:args], sealed[args:], micros(r.At), micros(r.Expires), len(sealed))
		if err == nil && n == 0 {
			return refTaken(r.Ref)
		}
		if err == nil {
			t.store.resultsGrown.add(len(sealed))
		}
		return err
	})
}

func (t resultTable) list(ctx context.Context, f *ResultFilter, now time.Time) ([]Result, error) {
	ctx, cancel := t.store.limit(ctx)
	defer cancel()
	var w where
	for i, text := range f.texts() {
		w.equals(resultKeys[i], text)
	}
	w.since("at", f.Since)
	if err := w.before(f.Before, "at", "ref"); err != nil {
		return nil, err
	}
	w.is("(expires = 0 OR expires > " + w.value(micros(now)) + ")")
	columns := resultColumns
	if f.Heads {
		columns = strings.Replace(columns, "args, body", "''::bytea, ''::bytea", 1)
	}
	query := "SELECT " + columns + " FROM results" + w.String() + " ORDER BY at DESC, ref DESC" + w.limit(f.Limit)
	rows, err := t.store.read.QueryContext(ctx, query, w.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Result
	for held := 0; held < pageBytes && rows.Next(); {
		var r Result
		var args, body []byte
		var size int64
		err := rows.Scan(&r.Ref, &r.Owner, &r.Call, (*string)(&r.Server), (*string)(&r.Tool), &r.Profile, &r.Session, &r.Rule,
			&args, &body, storedTime(&r.At), storedTime(&r.Expires), &size)
		if err != nil {
			return nil, err
		}
		if f.Heads {
			r.Size = size
		} else {
			t.store.opts.openResult(&r, args, body)
		}
		found = append(found, r)
		held += len(args) + len(body)
	}
	return found, rows.Err()
}

// trim goes step by step, so that none takes long. Two that trim at once delete the same.
func (t resultTable) trim(ctx context.Context, l ResultLimits, now time.Time) (deleted int64, err error) {
	const over = `DELETE FROM results WHERE (ref, owner) IN (SELECT ref, owner FROM (
		SELECT ref, owner, sum(size) OVER (PARTITION BY %s ORDER BY at DESC, ref DESC, owner) AS total FROM results) AS sums
		WHERE total > $1)`
	t.store.resultsGrown.look(l.Total)
	steps := []struct {
		statement string
		value     int64
	}{
		{"DELETE FROM results WHERE expires > 0 AND expires <= $1", micros(now)},
		{fmt.Sprintf(over, "owner"), l.Owner},
		{fmt.Sprintf(over, "1"), l.Total},
	}
	for _, step := range steps {
		if step.value <= 0 {
			continue
		}
		n, err := t.store.exec(ctx, step.statement, step.value)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}
