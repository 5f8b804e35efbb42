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

// Use records the words by which a tool was found that was then called.
type Use struct {
	Owner string // whose search it was
	Tool  tool.Name
	Terms json.RawMessage
	At    time.Time // kept to the microsecond
}

// maxUses is how many are stored per tool and owner.
const maxUses = 30

// AddUse stores the use and deletes all but the 30 newest of its tool and owner.
func (s *Store) AddUse(ctx context.Context, u Use) error {
	id := fmt.Sprintf("%016x%s", max(micros(u.At), 0), rand.Text())
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
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

// Uses returns the uses of an owner, ordered by tool, the oldest first.
func (s *Store) Uses(ctx context.Context, owner string) ([]Use, error) {
	read := func(scan scanner, u *Use) error {
		u.Owner = owner
		return scan((*string)(&u.Tool), storedTime(&u.At), (*[]byte)(&u.Terms))
	}
	return list(ctx, s, "read uses", read, "SELECT tool, at, terms FROM uses WHERE owner = $1 ORDER BY tool, id", owner)
}
