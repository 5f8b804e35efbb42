package store_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// openSealing opens a store with a key, twice, as two gateways do.
func openSealing(t *testing.T, dsn string, c *clock) (one, two *store.Store) {
	t.Helper()
	key, err := store.ParseSecretKey("a key for the connections of the suite")
	check(t, err)
	opts := &store.Options{Now: c.now, SecretKey: key}
	return open(t, dsn, opts), open(t, dsn, opts)
}

func testConnections(t *testing.T, dsn string, _ rawFunc) {
	c := &clock{noon}
	one, two := openSealing(t, dsn, c)
	ctx := t.Context()
	_, err := one.Connection(ctx, "notes", "u_1")
	isFault(t, err, fault.NotFound)
	first := store.Connection{Server: "notes", Owner: "u_1", Issuer: "https://as.example", Grant: []byte("令牌 1"), Expires: noon.Add(time.Hour)}
	check(t, one.SaveConnection(ctx, first))
	got, err := two.Connection(ctx, "notes", "u_1")
	check(t, err)
	want := first
	want.State = store.Ready
	want.CreatedAt = noon
	want.UpdatedAt = noon
	want.Version = 1
	equal(t, got, want)

	c.at = noon.Add(time.Second)
	check(t, two.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "", Grant: []byte("2")}))
	check(t, two.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_2", Grant: []byte("3")}))
	check(t, two.SaveConnection(ctx, store.Connection{Server: "other", Owner: "u_2", Grant: []byte("4")}))
	for n, owners := range map[int][]string{4: nil, 1: {"u_1"}, 3: {"u_2", ""}} {
		found, err := one.Connections(ctx, owners...)
		check(t, err)
		equal(t, len(found), n)
		for _, f := range found {
			equal(t, f.Grant, nil)
		}
	}
	listedBy := func(want string) {
		t.Helper()
		got, err := one.FirstConnected(ctx, "notes")
		check(t, err)
		equal(t, got, want)
	}
	listedBy("")
	check(t, one.DeleteConnection(ctx, "notes", ""))
	listedBy("u_1")
	got.State = store.NeedsLogin
	got.Reason = "gone"
	mine, err := one.LeaseConnection(ctx, &got, "one", time.Minute)
	check(t, err)
	equal(t, mine, true)
	mine, err = one.RenewConnection(ctx, &got, "one")
	check(t, err)
	equal(t, mine, true)
	listedBy("u_2")
	got, err = two.Connection(ctx, "notes", "u_1")
	check(t, err)
	equal(t, []string{got.State, got.Reason, string(got.Grant)}, []string{store.NeedsLogin, "gone", "令牌 1"})

	check(t, one.SaveConnection(ctx, first)) // signed in again
	got, err = two.Connection(ctx, "notes", "u_1")
	check(t, err)
	equal(t, []string{got.State, got.Reason, fmt.Sprint(got.Version)}, []string{store.Ready, "", "3"})
	isFault(t, one.DeleteConnection(ctx, "notes", "u_9"), fault.NotFound)
}

func isFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("%v is not %s", err, code)
	}
}

func testConnectionLeases(t *testing.T, dsn string, _ rawFunc) {
	c := &clock{noon}
	one, two := openSealing(t, dsn, c)
	ctx := t.Context()
	check(t, one.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_1", Grant: []byte("1")}))
	row, err := one.Connection(ctx, "notes", "u_1")
	check(t, err)
	var won atomic.Int32
	var work sync.WaitGroup
	for i := range 20 {
		s := one
		if i%2 == 1 {
			s = two
		}
		work.Go(func() {
			if mine, err := s.LeaseConnection(ctx, &row, fmt.Sprint("replica ", i), 30*time.Second); err != nil {
				t.Error(err)
			} else if mine {
				won.Add(1)
			}
		})
	}
	work.Wait()
	equal(t, won.Load(), 1)
	may := func(s *store.Store, replica string, want bool) {
		t.Helper()
		mine, err := s.LeaseConnection(ctx, &row, replica, 30*time.Second)
		check(t, err)
		equal(t, mine, want)
	}
	c.at = noon.Add(29 * time.Second)
	may(two, "late", false)
	c.at = noon.Add(30 * time.Second)
	may(two, "late", true)
	row.Grant = []byte("2")
	row.State = store.Ready
	for _, r := range []struct {
		replica string
		version int64
		want    bool
	}{{"replica 0", 1, false}, {"late", 2, false}, {"late", 1, true}, {"late", 1, false}} {
		row.Version = r.version
		mine, err := one.RenewConnection(ctx, &row, r.replica)
		check(t, err)
		equal(t, mine, r.want)
	}
	may(one, "old version", false)
	row.Version = 2
	may(one, "one", true)
	check(t, one.FreeConnection(ctx, &row, "another"))
	may(two, "two", false)
	check(t, one.FreeConnection(ctx, &row, "one"))
	may(two, "two", true)
	check(t, one.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_1", Grant: []byte("3")})) // ends the lease
	mine, err := two.RenewConnection(ctx, &row, "two")
	check(t, err)
	equal(t, mine, false)
}

func testConnectionLogins(t *testing.T, dsn string, raw rawFunc) {
	c := &clock{noon}
	one, two := openSealing(t, dsn, c)
	ctx := t.Context()
	l := store.ConnectionLogin{Server: "notes", Owner: "u_1", Data: []byte("verifier")}
	check(t, one.AddConnectionLogin(ctx, "s1", l, time.Minute))
	_, err := two.TakeConnectionLogin(ctx, "s1", "u_2") // somebody else
	isFault(t, err, fault.NotFound)
	got, err := two.TakeConnectionLogin(ctx, "s1", "u_1")
	check(t, err)
	equal(t, got, l)
	_, err = one.TakeConnectionLogin(ctx, "s1", "u_1") // once
	isFault(t, err, fault.NotFound)
	check(t, one.AddConnectionLogin(ctx, "s2", l, time.Minute))
	c.at = noon.Add(time.Minute)
	_, err = one.TakeConnectionLogin(ctx, "s2", "u_1") // late
	isFault(t, err, fault.NotFound)
	for i := range 100 {
		check(t, one.AddConnectionLogin(ctx, fmt.Sprint("many ", i), l, time.Minute))
	}
	isFault(t, one.AddConnectionLogin(ctx, "too many", l, time.Minute), fault.RateLimited)
	c.at = c.at.Add(time.Minute)
	check(t, one.AddConnectionLogin(ctx, "later", l, time.Minute))

	data, err := one.OwnClient(ctx, "https://as.example", "https://t/cb")
	check(t, err)
	equal(t, data, nil)
	for _, text := range []string{"client 1", "client 2"} {
		check(t, one.SaveOwnClient(ctx, "https://as.example", "https://t/cb", []byte(text)))
		data, err = two.OwnClient(ctx, "https://as.example", "https://t/cb")
		check(t, err)
		equal(t, string(data), text)
	}
	check(t, one.SaveOwnClient(ctx, "https://as.example", "https://t/cb", nil))
	data, err = two.OwnClient(ctx, "https://as.example", "https://t/cb")
	check(t, err)
	equal(t, data, nil)
}

func testConnectionsSealed(t *testing.T, dsn string, raw rawFunc) {
	one, _ := openSealing(t, dsn, &clock{noon})
	ctx := t.Context()
	check(t, one.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_1", Grant: []byte("a very secret token")}))
	check(t, one.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_2", Grant: []byte("another token")}))
	db := raw(t, dsn)
	var stored []byte
	check(t, db.QueryRow("SELECT grant_data FROM connections WHERE owner = 'u_1'").Scan(&stored))
	if bytes.Contains(stored, []byte("secret")) {
		t.Error("the token is readable")
	}
	_, err := db.Exec("UPDATE connections SET grant_data = $1 WHERE owner = 'u_2'", stored) // somebody copies a row
	check(t, err)
	if c, err := one.Connection(ctx, "notes", "u_2"); err == nil {
		t.Errorf("another's token: %s", c.Grant)
	}
	plain := open(t, dsn, nil)
	isFault(t, plain.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_3", Grant: []byte("x")}), fault.BadConfig)
	isFault(t, plain.AddConnectionLogin(ctx, "s", store.ConnectionLogin{Server: "notes"}, time.Minute), fault.BadConfig)
}
