package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// idleTime is after how long a connection that nobody uses is given back: other gateways may need it.
	idleTime = 10 * time.Second
	// narrowTime is how long a pool makes do with the connections it could get.
	narrowTime = 30 * time.Second
	// exitTime is about how long the database takes to end a closed connection.
	exitTime = 50 * time.Millisecond
)

// pool makes the connections of a sql.DB, so that every string is stored exactly. Where the database
// accepts no more, it lets statements wait for those that there are.
type pool struct {
	driver.Connector
	db       *sql.DB
	most     int
	open     atomic.Int64
	narrow   atomic.Bool
	release  func()    // makes others close connections that they can do without; nil: there is nobody
	sessions *sync.Map // has the numbers of the open connections
}

// newPool makes a pool of so many connections at most.
func newPool(cfg *pgx.ConnConfig, most int, opts ...stdlib.OptionOpenDB) *pool {
	p := &pool{Connector: stdlib.GetConnector(*cfg, opts...), most: most}
	p.db = sql.OpenDB(p)
	p.widen()
	p.db.SetConnMaxIdleTime(idleTime)
	p.db.SetConnMaxLifetime(time.Hour) // so that connections move when the address does
	return p
}

// Connect is called by the sql.DB.
func (p *pool) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if acceptsNoMore(err) && p.open.Load() == 0 && p.release != nil {
		p.release()
		select {
		case <-time.After(exitTime):
		case <-ctx.Done():
		}
		conn, err = p.Connector.Connect(ctx)
	}
	switch {
	case err == nil:
		p.open.Add(1)
		one := exactConn{conn.(*stdlib.Conn), p}
		p.sessions.Store(one.session(), true)
		return one, nil
	case acceptsNoMore(err) && p.open.Load() > 0:
		p.narrowTo(int(p.open.Load()))
		return nil, tryAgain{err}
	}
	return nil, err
}

// narrowTo sets the limit to what there is, for a while. Further statements wait for a connection.
func (p *pool) narrowTo(open int) {
	p.db.SetMaxOpenConns(open)
	if p.narrow.CompareAndSwap(false, true) {
		time.AfterFunc(narrowTime, func() {
			p.narrow.Store(false)
			p.widen()
		})
	}
}

func (p *pool) widen() {
	p.db.SetMaxOpenConns(p.most)
	p.db.SetMaxIdleConns(p.most)
}

// keepIdle closes connections that are not in use, but for so many.
func (p *pool) keepIdle(n int) {
	p.db.SetMaxIdleConns(n)
	p.db.SetMaxIdleConns(p.most)
}

// acceptsNoMore tells whether the database has as many connections as it may have.
func acceptsNoMore(err error) bool {
	e := (*pgconn.PgError)(nil)
	return errors.As(err, &e) && e.Code == "53300"
}

// tryAgain makes the sql.DB look for a connection once more.
type tryAgain struct{ error }

func (e tryAgain) Is(target error) bool { return target == driver.ErrBadConn }
func (e tryAgain) Unwrap() error        { return e.error }
