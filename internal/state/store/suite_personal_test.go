package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	oldKey = "the old one of two keys"
	newKey = "the-new-one-of-two-keys"
)

func testPersonal(t *testing.T, dsn string, raw rawFunc) {
	now := noon
	ctx := t.Context()
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, oldKey), Now: func() time.Time { return now }})
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "ann", Name: "jira", Data: []byte("first")}))
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "ann", Name: "jira", Data: []byte("hunter2")}))
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "安", Name: "short", Data: []byte("x"), Expires: noon.Add(time.Minute)}))
	p, err := s.Personal(ctx, "ann", "jira")
	check(t, err)
	equal(t, string(p.Data), "hunter2")
	if _, err := s.Personal(ctx, "bob", "jira"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another's value: %v", err)
	}
	var stored []byte
	check(t, raw(t, dsn).QueryRow("SELECT data FROM personal WHERE owner = 'ann'").Scan(&stored))
	if bytes.Contains(stored, []byte("hunter2")) {
		t.Error("it is stored as it is")
	}
	now = noon.Add(time.Hour)
	if _, err := s.Personal(ctx, "安", "short"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an expired value: %v", err)
	}
	all, err := s.Personals(ctx, "ann")
	check(t, err)
	equal(t, len(all), 1)
	check(t, s.DeletePersonal(ctx, "ann", "jira"))
	if err := s.DeletePersonal(ctx, "ann", "jira"); !fault.Is(err, fault.NotFound) {
		t.Errorf("delete twice: %v", err)
	}
	for i := range 200 {
		check(t, s.SavePersonal(ctx, store.Personal{Owner: "many", Name: string(rune('一' + i)), Data: []byte("x")}))
	}
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "many", Name: "一", Data: []byte("y")}))
	if err := s.SavePersonal(ctx, store.Personal{Owner: "many", Name: "one more", Data: []byte("x")}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("one more: %v", err)
	}
	for i, id := range []string{"u_1", "u_2"} {
		check(t, s.SavePerson(ctx, store.Person{ID: id, Issuer: "https://a", Subject: id, Kind: "user", Name: id, Role: "caller", SeenAt: noon}))
		check(t, s.SavePersonal(ctx, store.Personal{Owner: id, Name: "newest", Data: []byte{byte(i)}}))
	}
	for _, id := range []string{"u_1", "u_2"} { // whoever is disabled does not count
		other := map[string]string{"u_1": "u_2", "u_2": "u_1"}[id]
		_, err := s.DisablePerson(ctx, id, noon)
		check(t, err)
		equal(t, s.NewestOwner(ctx, "newest"), other)
		_, err = s.DisablePerson(ctx, id, time.Time{})
		check(t, err)
	}
	check(t, s.Close())
	if err := open(t, dsn, nil).SavePersonal(ctx, store.Personal{Owner: "ann", Name: "x"}); !fault.Is(err, fault.BadConfig) {
		t.Errorf("without a key: %v", err)
	}
}

// Three gateways while the key is changed: one after the other learns the new key, then seals with it, then forgets the
// old one. What any of them writes all can read.
func testRotation(t *testing.T, dsn string, _ rawFunc) {
	ctx := t.Context()
	opened := func(key string) *store.Store { return open(t, dsn, &store.Options{SecretKey: secretKey(t, key)}) }
	steps := []string{oldKey, oldKey + ", " + newKey, newKey + "\n" + oldKey}
	before := opened(oldKey)
	check(t, before.SaveServerConfig(ctx, "kept", []byte("kept"), true))
	check(t, before.SaveConnection(ctx, store.Connection{Server: "s", Owner: "安", Grant: []byte("kept")}))
	check(t, before.SaveOwnClient(ctx, "https://issuer", "https://us", []byte("kept")))
	check(t, before.SavePersonal(ctx, store.Personal{Owner: "ann", Name: "kept", Data: []byte("kept")}))
	for i := 1; i < len(steps); i++ {
		gateways := []*store.Store{opened(steps[i-1]), opened(steps[i]), opened(steps[i])}
		for w, writer := range gateways {
			check(t, writer.SavePersonal(ctx, store.Personal{Owner: "ann", Name: "x", Data: []byte{byte(w)}}))
			check(t, writer.SaveServerConfig(ctx, "x", []byte{byte(w)}, true))
			for r, reader := range gateways {
				p, err := reader.Personal(ctx, "ann", "x")
				if err != nil || p.Data[0] != byte(w) {
					t.Errorf("step %d: gateway %d reads what %d wrote: %v %v", i, r, w, p.Data, err)
				}
				c, err := reader.Connection(ctx, "s", "安")
				check(t, err)
				equal(t, string(c.Grant), "kept")
			}
		}
	}
	last := opened(steps[2])
	n, err := last.SealedBefore(ctx)
	check(t, err)
	equal(t, n, 4)
	n, err = last.Reseal(ctx)
	check(t, err)
	equal(t, n, 4)
	after := opened(newKey)
	n, err = after.SealedBefore(ctx)
	check(t, err)
	equal(t, n, 0)
	all, err := after.ServerConfigs(ctx)
	check(t, err)
	for _, c := range all {
		check(t, c.Err)
	}
	p, err := after.Personal(ctx, "ann", "kept")
	check(t, err)
	equal(t, string(p.Data), "kept")
	client, err := after.OwnClient(ctx, "https://issuer", "https://us")
	check(t, err)
	equal(t, string(client), "kept")
}
