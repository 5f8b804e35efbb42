package store

import (
	"context"
	"database/sql/driver"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/stdlib"
)

// PostgreSQL's text cannot hold a NUL or invalid UTF-8, but a server's message or a tool's name may
// contain both. Each such byte is stored as a character of a private range, and so is each byte of a
// character in that range: every text comes back unchanged, and ordinary text is stored as it is.
const privateFirst, privateLast = 0x10FE00, 0x10FEFF

// privateStart begins every character of the private range, and some others.
const privateStart = "\xf4\x8f"

func encodeText(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) && !strings.Contains(s, privateStart) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == 0 || r == utf8.RuneError && size == 1 || isPrivate(r) {
			for i := range size {
				b.WriteRune(privateFirst + rune(s[i]))
			}
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

func decodeText(s string) string {
	if !strings.Contains(s, privateStart) {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if isPrivate(r) {
			b = append(b, byte(r-privateFirst))
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

func isPrivate(r rune) bool { return r >= privateFirst && r <= privateLast }

// exactConn encodes the strings that go in and decodes those that come out.
type exactConn struct {
	*stdlib.Conn
	of *pool
}

// Close is called once by the sql.DB.
func (c exactConn) Close() error {
	c.of.open.Add(-1)
	c.of.sessions.Delete(c.session())
	return c.Conn.Close()
}

// session is the connection's number at the database.
func (c exactConn) session() uint32 { return c.Conn.Conn().PgConn().PID() }

// CheckNamedValue encodes a string argument. Lists are encoded where they are made.
func (exactConn) CheckNamedValue(arg *driver.NamedValue) error {
	if s, ok := arg.Value.(string); ok {
		arg.Value = encodeText(s)
	}
	return nil
}

func (c exactConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return exactRows{rows}, nil
}

type exactRows struct{ driver.Rows }

func (r exactRows) Next(dest []driver.Value) error {
	if err := r.Rows.Next(dest); err != nil {
		return err
	}
	for i, v := range dest {
		if s, ok := v.(string); ok {
			dest[i] = decodeText(s)
		}
	}
	return nil
}
