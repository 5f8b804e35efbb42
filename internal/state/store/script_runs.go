package store

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// ScriptRun is a script that was run, and what it has called so far.
type ScriptRun struct {
	ID      string // of the record of the call that began it
	Owner   string
	Profile string
	Tool    string // as the catalog names it: run_script, or a recipe
	Digest  string // of what was asked: equal for the same script and input
	State   ScriptState
	At      time.Time // when it began, kept to the microsecond, as is the next
	Expires time.Time // from then on it is not found
	Version int64     // how often it was saved; 0: never
	Body    []byte    // sealed: the script and the log of its calls
	Err     error     // why Body cannot be read, such as another key; nil when it can
}

// ScriptState is where a run stands.
type ScriptState string

const (
	ScriptRunning ScriptState = "running"
	ScriptPaused  ScriptState = "paused" // until the same call is made again
	ScriptEnded   ScriptState = "ended"
)

const (
	scriptRunColumns = "id, owner, profile, tool, digest, state, at, expires, version, body"

	saveScriptRun = "INSERT INTO script_runs (" + scriptRunColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, expires = excluded.expires, version = excluded.version, body = excluded.body
		WHERE script_runs.version = excluded.version - 1`
	claimScriptRun = `UPDATE script_runs SET state = 'running' WHERE id = (SELECT id FROM script_runs
		WHERE owner = $1 AND tool = $2 AND digest = $3 AND state = 'paused' AND profile = $4 AND expires > $5
		ORDER BY at DESC LIMIT 1) AND state = 'paused' RETURNING ` + scriptRunColumns
)

// SaveScriptRun stores a run, or the state and body of one that is stored, with the next version. If somebody else has saved it since
// this version, that is a fault.Conflict: of several that go on with a run at once, one can.
func (s *Store) SaveScriptRun(ctx context.Context, r ScriptRun) error {
	saved, err := s.exec(ctx, saveScriptRun, r.ID, r.Owner, r.Profile, r.Tool, r.Digest, string(r.State), micros(r.At), micros(r.Expires),
		r.Version+1, s.opts.SecretKey.seal(scriptRunRow(r.ID), r.Body))
	if err == nil && saved == 0 {
		return fault.New(fault.Conflict, "another call goes on with the script").WithHint("wait for its result, or see: toolfit calls")
	}
	return s.explain("save run "+r.ID, err)
}

// ClaimScriptRun returns the newest paused run of the same tool, script and input, which runs from then on. Of several that claim one
// at once, one gets it; found is false if there is none.
func (s *Store) ClaimScriptRun(ctx context.Context, owner, profile, tool, digest string) (r ScriptRun, found bool, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := readRows(ctx, s.write, s.scanScriptRun, claimScriptRun, owner, tool, digest, profile, micros(s.opts.Now()))
	if err == nil && len(rows) > 0 {
		return rows[0], true, nil
	}
	return ScriptRun{}, false, s.explain("look for a paused run", err)
}

// ScriptRun returns an owner's run ("": anybody's). One that is unknown, expired or somebody else's is a fault.NotFound.
func (s *Store) ScriptRun(ctx context.Context, owner, id string) (ScriptRun, error) {
	var w where
	w.has("id =", id)
	w.equals("owner", owner)
	w.has("expires >", micros(s.opts.Now()))
	found, err := list(ctx, s, "read run "+id, s.scanScriptRun, "SELECT "+scriptRunColumns+" FROM script_runs"+w.String(), w.args...)
	switch {
	case err != nil:
		return ScriptRun{}, err
	case len(found) == 0:
		return ScriptRun{}, fault.New(fault.NotFound, "there is no run %.100q of a script", id).WithHint("runs are kept for a while only; see: toolfit calls")
	}
	return found[0], nil
}

// TrimScriptRuns deletes the runs that have expired.
func (s *Store) TrimScriptRuns(ctx context.Context) (deleted int64, err error) {
	deleted, err = s.exec(ctx, "DELETE FROM script_runs WHERE expires <= $1", micros(s.opts.Now()))
	return deleted, s.explain("trim runs", err)
}

func (s *Store) scanScriptRun(scan scanner, r *ScriptRun) error {
	var sealed []byte
	err := scan(&r.ID, &r.Owner, &r.Profile, &r.Tool, &r.Digest, (*string)(&r.State), storedTime(&r.At), storedTime(&r.Expires), &r.Version, &sealed)
	if err != nil {
		return err
	}
	r.Body, r.Err = s.opts.SecretKey.open("run "+r.ID, scriptRunRow(r.ID), sealed)
	return nil
}

// scriptRunRow is what a sealed body is bound to. Changing it makes stored ones unreadable.
func scriptRunRow(id string) string { return "script_runs/body/" + id }
