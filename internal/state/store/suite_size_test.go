package store_test

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// noise is a text that does not get shorter by compression.
func noise(r *rand.Rand, n int) string {
	b := make([]byte, n*3/4+3)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.RawStdEncoding.EncodeToString(b)[:n]
}

// onDisk is what the records of a store take there: of SQLite the whole file with its journal
// folded in, of PostgreSQL the tables with all that belongs to them.
func onDisk(t *testing.T, dsn string, raw func(t *testing.T, dsn string) *sql.DB) (n int64) {
	t.Helper()
	if !strings.HasPrefix(dsn, "postgres") {
		db := raw(t, dsn)
		var busy, log, moved int
		check(t, db.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &moved))
		info, err := os.Stat(dsn)
		check(t, err)
		return info.Size()
	}
	check(t, raw(t, dsn).QueryRow(`SELECT pg_total_relation_size('calls') + pg_total_relation_size('runs') + `+
		`pg_total_relation_size('run_pictures')`).Scan(&n))
	return n
}

var long = flag.Bool("long", false, "fill stores with each kind of record, not with a mixture alone, and for longer")

// shapes are kinds of records; the last is a mixture.
var shapes = []struct {
	name string
	call func(r *rand.Rand, c *store.Call)
	run  int // bytes of a picture, after every sixteenth batch
}{
	{"plain calls", func(*rand.Rand, *store.Call) {}, 0},
	{"calls that are in every index", func(r *rand.Rand, c *store.Call) {
		c.Session = "ses_" + noise(r, 12)
		c.Agent = "agent"
		c.Rule = "rule"
		c.Level = "error"
		c.Message = noise(r, 100)
	}, 0},
	{"long messages", func(r *rand.Rand, c *store.Call) { c.Message = noise(r, 2200) }, 0},
	{"arguments, runs and pictures among plain calls", func(r *rand.Rand, c *store.Call) {
		if r.IntN(8) == 0 {
			text := json.RawMessage(`"` + noise(r, r.IntN(16_000)) + `"`)
			c.Arguments = &store.Arguments{Sent: text, Fitted: text}
			c.Message = noise(r, r.IntN(4000))
		}
	}, 60_000},
}

// testSizeHolds fills a store as a gateway does, two or three times over, and looks at the disk.
func testSizeHolds(t *testing.T, newDSN func(t *testing.T) string, raw func(t *testing.T, dsn string) *sql.DB) {
	const most, batch = 3 << 20, 32
	tried := shapes
	times := 3
	if !*long {
		tried = shapes[len(shapes)-1:] // some of everything
		times = 2
	}
	for _, shape := range tried {
		t.Run(shape.name, func(t *testing.T) {
			dsn := newDSN(t)
			s := open(t, dsn, nil)
			empty := onDisk(t, dsn, raw) // the other tables, and a page or two of each of these
			ctx := t.Context()
			r := rand.New(rand.NewPCG(1, 2))
			next := 0
			for added, batches := 0, 0; added < times*most; batches++ {
				calls := make([]store.Call, batch)
				for i := range calls {
					calls[i] = sampleCall(next)
					calls[i].Principal = fmt.Sprint("principal-", next%20)
					shape.call(r, &calls[i])
					added += 400 + len(calls[i].Message)
					if calls[i].Arguments != nil {
						added += 2 * len(calls[i].Arguments.Sent)
					}
					next++
				}
				check(t, s.AppendCalls(ctx, calls))
				if shape.run > 0 && batches%16 == 0 {
					picture := store.RunPicture{Step: 1, Type: "image/png", Data: []byte(noise(r, shape.run))}
					check(t, s.SaveRun(ctx, store.Run{ID: fmt.Sprint("run_", next), At: calls[0].At, Report: []byte(noise(r, 5_000)),
						Pictures: []store.RunPicture{picture}}))
					added += shape.run + 5_000
				}
				select {
				case <-s.TrimDue():
					_, err := s.TrimRecords(ctx, most)
					check(t, err)
				default:
				}
			}
			size := onDisk(t, dsn, raw) - empty
			t.Logf("%.1f %% of the bound are on disk", 100*float64(size)/most)
			if size > most*11/10 || size < most*8/10 {
				t.Errorf("%d bytes on disk, the bound is %d: %.0f %%", size, most, 100*float64(size)/most)
			}
			var calls, runs int
			check(t, raw(t, dsn).QueryRow("SELECT (SELECT count(*) FROM calls), (SELECT count(*) FROM runs)").Scan(&calls, &runs))
			newest, err := s.Calls(ctx, store.CallFilter{Limit: 1})
			check(t, err)
			if newest[0].ID != sampleCall(next-1).ID || calls < next/20 || shape.run > 0 && runs == 0 {
				t.Errorf("%d calls of %d and %d runs are left, the newest call is %s", calls, next, runs, newest[0].ID)
			}
		})
	}
}

// testSizeHoldsAfterAFlood trims what is far too much at once.
func testSizeHoldsAfterAFlood(t *testing.T, dsn string, raw func(t *testing.T, dsn string) *sql.DB) {
	const most = 2 << 20
	s := open(t, dsn, nil)
	ctx := t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	db := raw(t, dsn)
	inUse := func() (size int64) {
		check(t, db.QueryRow("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), "+
			"pragma_page_size()").Scan(&size))
		return size
	}
	var said int64
	if !strings.HasPrefix(dsn, "postgres") {
		said = inUse() // empty tables
	}
	for i := range 40 { // sessions have their own bound, and do not count
		id := fmt.Sprint("ses_", i)
		_, err := s.CreateSession(ctx, store.Session{ID: id})
		check(t, err)
		body := json.RawMessage(`"` + noise(r, 50_000) + `"`)
		check(t, s.AppendMessages(ctx, id, body))
		said += int64(len(body))
	}
	for next := 0; next < 8_000; next += 1000 {
		calls := make([]store.Call, 1000)
		for i := range calls {
			calls[i] = sampleCall(next + i)
			calls[i].Message = noise(r, (next+i)%3000)
		}
		check(t, s.AppendCalls(ctx, calls))
	}
	_, err := s.TrimRecords(ctx, most)
	check(t, err)
	var size int64
	if strings.HasPrefix(dsn, "postgres") {
		_, err := db.Exec("VACUUM FULL calls") // what is left, without the space that is free
		check(t, err)
		size = onDisk(t, dsn, raw)
	} else {
		size = inUse() - said
	}
	if size > most*11/10 || size < most*8/10 {
		t.Errorf("%d bytes are in use, the bound is %d: %.0f %%", size, most, 100*float64(size)/most)
	}
	n, err := s.TrimRecords(ctx, most)
	check(t, err)
	equal(t, n, 0)
}

func testSessionSizes(t *testing.T, open func() *store.Store) {
	s := open()
	other := open()
	ctx := t.Context()
	body := json.RawMessage(`"` + strings.Repeat("x", 9_848) + `"`) // 10 kB with what belongs to it
	create := func(id, owner string) {
		t.Helper()
		_, err := s.CreateSession(ctx, store.Session{ID: id, Owner: owner})
		check(t, err)
	}
	for i := range 30 {
		id := fmt.Sprintf("ses_%02d", i)
		create(id, "ann")
		check(t, s.AppendMessages(ctx, id, body))
	}
	create("other", "bob")
	limits := store.SessionLimits{Owner: 105_000, Total: 1_000_000}
	deleted := make(chan int64, 2)
	for _, one := range []*store.Store{s, other} {
		go func() {
			n, err := one.TrimSessions(ctx, time.Time{}, limits)
			if err != nil {
				t.Error(err)
			}
			deleted <- n
		}()
	}
	equal(t, <-deleted+<-deleted, 20)
	left, err := s.Sessions(ctx, store.SessionFilter{Owner: "ann"})
	check(t, err)
	if len(left) != 10 || left[0].ID != "ses_29" || left[9].ID != "ses_20" {
		t.Fatalf("%q are left", sessionIDs(left))
	}

	// One session takes all that its owner may have, and no more.
	for range 10 {
		check(t, s.AppendMessages(ctx, "other", body))
	}
	err = s.AppendMessages(ctx, "other", body)
	if !fault.Is(err, fault.TooLarge) || fault.As(err).Hint == "" {
		t.Fatalf("got %v", err)
	}
	said, err := s.Messages(ctx, "other", 0, 0)
	check(t, err)
	equal(t, len(said), 10)

	// Of all, those that did not change for longest go.
	check(t, s.AppendMessages(ctx, "ses_20", body))
	_, err = s.TrimSessions(ctx, time.Time{}, store.SessionLimits{Owner: 105_000, Total: 50_000})
	check(t, err)
	left, err = s.Sessions(ctx, store.SessionFilter{})
	check(t, err)
	equal(t, sessionIDs(left), []string{"ses_20"})
}
