package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func secretKey(t *testing.T, text string) store.SecretKey {
	t.Helper()
	k, err := store.ParseSecretKey(text)
	check(t, err)
	return k
}

func testConfigs(t *testing.T, dsn string, _ rawFunc) {
	now := noon
	ctx := t.Context()
	s := open(t, dsn, &store.Options{Now: func() time.Time { return now }})
	odd := []byte("{\"command\":\"x\"}\x00\xff\n")
	check(t, s.SaveServerConfig(ctx, "b", []byte("old"), false))
	check(t, s.SaveServerConfig(ctx, "a", nil, false))
	now = noon.Add(time.Hour)
	check(t, s.SaveServerConfig(ctx, "b", odd, false))
	got, err := s.ServerConfigs(ctx)
	check(t, err)
	equal(t, got, []store.ServerConfig{
		{ID: "a", Config: []byte{}, CreatedAt: noon, UpdatedAt: noon},
		{ID: "b", Config: odd, CreatedAt: noon, UpdatedAt: now},
	})
	check(t, s.DeleteServerConfig(ctx, "a"))
	if err := s.DeleteServerConfig(ctx, "a"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("delete twice: got %v, want not found", err)
	}
	got, err = s.ServerConfigs(ctx)
	check(t, err)
	equal(t, len(got), 1)
}

func testEncrypted(t *testing.T, dsn string, raw rawFunc) {
	ctx := t.Context()
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, "correct horse battery staple")})
	const text = `{"headers":{"Authorization":"Bearer hunter2"}}`
	check(t, s.SaveServerConfig(ctx, "a", []byte(text), true))
	check(t, s.SaveServerConfig(ctx, "b", []byte(text), false))
	got, err := s.ServerConfigs(ctx)
	check(t, err)
	for _, c := range got {
		check(t, c.Err)
		equal(t, string(c.Config), text)
	}
	db := raw(t, dsn)
	stored := map[string][]byte{}
	for _, id := range []string{"a", "b"} {
		var b []byte
		check(t, db.QueryRow("SELECT config FROM server_configs WHERE id = '"+id+"'").Scan(&b))
		stored[id] = b
		if bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("headers")) {
			t.Fatalf("%s is stored readable", id)
		}
	}
	if bytes.Equal(stored["a"][5:], stored["b"][5:]) {
		t.Fatal("the same text is stored the same twice")
	}
	// What belongs to one server is of no use in the row of another.
	_, err = db.Exec("UPDATE server_configs SET config = (SELECT config FROM server_configs WHERE id = 'a') WHERE id = 'b'")
	check(t, err)
	got, err = s.ServerConfigs(ctx)
	check(t, err)
	check(t, got[0].Err)
	if !fault.Is(got[1].Err, fault.BadConfig) || got[1].Config != nil {
		t.Fatalf("moved row: got %q, %v", got[1].Config, got[1].Err)
	}
}

func testNoKey(t *testing.T, dsn string, _ rawFunc) {
	s := open(t, dsn, nil)
	ctx := t.Context()
	err := s.SaveServerConfig(ctx, "a", []byte("hunter2"), true)
	if !fault.Is(err, fault.BadConfig) || !bytes.Contains([]byte(err.Error()), []byte("TOOLFIT_SECRET_KEY")) {
		t.Fatalf("got %v, want a bad_config that names TOOLFIT_SECRET_KEY", err)
	}
	check(t, s.SaveServerConfig(ctx, "a", []byte("plain"), false))
	keyed := open(t, dsn, &store.Options{SecretKey: secretKey(t, "a key that came later")})
	check(t, keyed.SaveServerConfig(ctx, "b", []byte("sealed"), true))
	got, err := keyed.ServerConfigs(ctx)
	check(t, err)
	equal(t, string(got[0].Config)+string(got[1].Config), "plainsealed")
	got, err = s.ServerConfigs(ctx)
	check(t, err)
	check(t, got[0].Err)
	if !fault.Is(got[1].Err, fault.BadConfig) || !bytes.Contains([]byte(got[1].Err.Error()), []byte("TOOLFIT_SECRET_KEY")) {
		t.Fatalf("got %v, want a bad_config that names TOOLFIT_SECRET_KEY", got[1].Err)
	}
}

func testOtherKey(t *testing.T, dsn string, _ rawFunc) {
	ctx := t.Context()
	old := open(t, dsn, &store.Options{SecretKey: secretKey(t, "the first of the keys")})
	check(t, old.SaveServerConfig(ctx, "a", []byte("old"), true))
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, "another of the keys")})
	check(t, s.SaveServerConfig(ctx, "b", []byte("new"), true))
	got, err := s.ServerConfigs(ctx)
	check(t, err)
	if !fault.Is(got[0].Err, fault.BadConfig) || !bytes.Contains([]byte(got[0].Err.Error()), []byte("another key")) {
		t.Fatalf("got %v, want a bad_config that says another key", got[0].Err)
	}
	check(t, got[1].Err)
	equal(t, string(got[1].Config), "new")
	check(t, s.DeleteServerConfig(ctx, "a"))
}
