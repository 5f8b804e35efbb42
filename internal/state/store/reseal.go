package store

import (
	"bytes"
	"context"
)

// lasting is what is sealed and does not expire by itself: the column, and the row that it is sealed for.
var lasting = []struct{ table, column, row string }{
	{"server_configs", "config", "'server_configs/' || id"},
	{"connections", "grant_data", "'connection ' || server || ' ' || owner"},
	{"own_clients", "data", "'client ' || issuer || ' ' || redirect"},
	{"personal", "data", "'personal ' || owner || ' ' || name"},
}

type sealedRow struct {
	row  string
	data []byte
}

// sealedBefore are the rows of a table that another key than the first has sealed.
func (s *Store) sealedBefore(ctx context.Context, table, column, row string) ([]sealedRow, error) {
	read := func(scan scanner, r *sealedRow) error { return scan(&r.row, &r.data) }
	query := "SELECT " + row + ", " + column + " FROM " + table +
		" WHERE substr(" + column + ", 1, 1) = $1 AND substr(" + column + ", 2, 4) <> $2"
	return list(ctx, s, "read what older keys have sealed", read, query, []byte{sealedAESGCM}, s.opts.SecretKey.id[:])
}

// SealedBefore is how much of what lasts another key than the first has sealed. While it is not 0, the older keys
// are needed.
func (s *Store) SealedBefore(ctx context.Context) (n int, err error) {
	for _, l := range lasting {
		rows, err := s.sealedBefore(ctx, l.table, l.column, l.row)
		if err != nil {
			return n, err
		}
		n += len(rows)
	}
	return n, nil
}

// Reseal seals anew with the first key what older ones have sealed and does not expire. What no key opens stays as it
// is, and so does what is written meanwhile: that is sealed with the first key by then.
func (s *Store) Reseal(ctx context.Context) (n int, err error) {
	if len(s.opts.SecretKey.older) == 0 {
		return 0, nil
	}
	for _, l := range lasting {
		rows, err := s.sealedBefore(ctx, l.table, l.column, l.row)
		if err != nil {
			return n, err
		}
		for _, r := range rows {
			text, err := s.opts.SecretKey.open(r.row, r.row, r.data)
			if err != nil {
				continue // whoever needs it gets the reason
			}
			update := "UPDATE " + l.table + " SET " + l.column + " = $1 WHERE " + l.row + " = $2 AND " + l.column + " = $3"
			changed, err := s.exec(ctx, update, s.opts.SecretKey.seal(r.row, text), r.row, bytes.Clone(r.data))
			if err != nil {
				return n, s.explain("seal with the first key", err)
			}
			n += int(changed)
		}
	}
	return n, nil
}

// HasOlder tells whether there are keys that only open.
func (k SecretKey) HasOlder() bool { return len(k.older) > 0 }
