package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Use tells by which words a tool was found that was then called.
type Use struct {
	Owner string // whose search it was
	Tool  tool.Name
	Terms json.RawMessage
	At    time.Time // kept to the microsecond
}

// maxUses is how many are kept of one tool and owner.
const maxUses = 30

// AddUse keeps the use, and of each tool and owner the 30 newest.
func (s *Store) AddUse(ctx context.Context, u Use) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	id := fmt.Sprintf("%016x%s", max(micros(u.At), 0), rand.Text())
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		const insert = "INSERT INTO uses (owner, tool, id, at, terms) VALUES ($1, $2, $3, $4, $5)"
		if _, err := tx.ExecContext(ctx, insert, u.Owner, string(u.Tool), id, micros(u.At), notNull(u.Terms)); err != nil {
			return err
		}
		const trim = `DELETE FROM uses WHERE owner = $1 AND tool = $2 AND id <= (
			SELECT id FROM uses WHERE owner = $1 AND tool = $2 ORDER BY id DESC LIMIT 1 OFFSET $3)`
		_, err := tx.ExecContext(ctx, trim, u.Owner, string(u.Tool), maxUses)
		return err
	})
	return s.explain("keep use of "+string(u.Tool), err)
}

// Uses returns what is kept of an owner, ordered by tool and the oldest first.
func (s *Store) Uses(ctx context.Context, owner string) ([]Use, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := s.read.QueryContext(ctx, "SELECT tool, at, terms FROM uses WHERE owner = $1 ORDER BY tool, id", owner)
	if err != nil {
		return nil, s.explain("read uses", err)
	}
	defer rows.Close()
	var found []Use
	for rows.Next() {
		u := Use{Owner: owner}
		var at int64
		if err := rows.Scan((*string)(&u.Tool), &at, (*[]byte)(&u.Terms)); err != nil {
			return nil, s.explain("read uses", err)
		}
		u.At = fromMicros(at)
		found = append(found, u)
	}
	return found, s.explain("read uses", rows.Err())
}
