package store_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

func testOwnConnections(t *testing.T, dsn string, raw rawFunc) {
	ctx := t.Context()
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, "correct horse battery staple")})
	check(t, s.CreateKey(ctx, store.Key{ID: "k1", Name: "ann", Role: "caller", Profile: "default", Hash: []byte("h"), CreatedAt: noon}))
	check(t, s.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "k1", Grant: []byte("hunter2")}))
	db := raw(t, dsn)
	const columns = "issuer, state, reason, grant_data, expires_at, created_at, updated_at, version"
	for _, to := range []string{"'mail', 'k1'", "'notes', 'k2'"} {
		_, err := db.ExecContext(ctx, "INSERT INTO connections (server, owner, "+columns+") SELECT "+to+", "+columns+
			" FROM connections WHERE server = 'notes' AND owner = 'k1'")
		check(t, err)
	}
	for row, opens := range map[[2]string]bool{{"notes", "k1"}: true, {"mail", "k1"}: false, {"notes", "k2"}: false} {
		c, err := s.Connection(ctx, tool.ServerID(row[0]), row[1])
		if opens != (err == nil && string(c.Grant) == "hunter2") || !opens && !fault.Is(err, fault.BadConfig) {
			t.Errorf("%v: %q %v", row, c.Grant, err)
		}
	}
	var sealed []byte
	check(t, db.QueryRowContext(ctx, "SELECT grant_data FROM connections WHERE server = 'notes' AND owner = 'k1'").Scan(&sealed))
	if bytes.Contains(sealed, []byte("hunter2")) {
		t.Error("it can be read")
	}
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "k1", Name: "token", Data: []byte("hunter3")}))
	names, err := s.OwnerNames(ctx)
	if check(t, err); len(names) != 1 || names["k1"] != "ann" {
		t.Errorf("names: %v", names)
	}
	ended := deleteKey(t, s, "ann")
	slices.SortFunc(ended, func(a, b store.Connection) int { return strings.Compare(string(a.Server), string(b.Server)) })
	if len(ended) != 2 || string(ended[1].Grant) != "hunter2" || ended[0].Grant != nil { // the other one is no row of its own
		t.Errorf("ended: %+v", ended)
	}
	if given, err := s.Personals(ctx, "k1"); err != nil || len(given) != 0 {
		t.Errorf("values of a deleted key: %+v %v", given, err)
	}
	left, err := s.Connections(ctx)
	check(t, err)
	if len(left) != 1 || left[0].Owner != "k2" {
		t.Errorf("left: %+v", left)
	}
}

func testTrimConnections(t *testing.T, dsn string, _ rawFunc) {
	now := noon
	ctx := t.Context()
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, "correct horse battery staple"), Now: func() time.Time { return now }})
	check(t, s.CreateKey(ctx, store.Key{ID: "k1", Name: "ann", Role: "caller", Profile: "default", Hash: []byte("h"), CreatedAt: noon}))
	check(t, s.SavePerson(ctx, store.Person{ID: "u1", Subject: "bob", Name: "bob", SeenAt: noon}))
	for _, owner := range []string{"", "local", "k1", "u1", "nobody"} {
		check(t, s.SaveConnection(ctx, store.Connection{Server: "notes", Owner: owner}))
		check(t, s.SaveConnection(ctx, store.Connection{Server: "gone", Owner: owner}))
	}
	check(t, s.AddConnectionLogin(ctx, "state", store.ConnectionLogin{Server: "notes", Owner: "k1"}, time.Minute))
	for _, step := range []struct {
		days int
		want int64
	}{{1, 1}, {31, 6}, {31, 0}} {
		now = noon.Add(time.Duration(step.days) * 24 * time.Hour)
		n, err := s.TrimConnections(ctx, []tool.ServerID{"notes"})
		check(t, err)
		equal(t, n, step.want)
	}
	left, err := s.Connections(ctx)
	check(t, err)
	var owners []string
	for _, c := range left {
		owners = append(owners, string(c.Server)+" "+c.Owner)
	}
	equal(t, owners, []string{"notes ", "notes k1", "notes local", "notes u1"})
}
