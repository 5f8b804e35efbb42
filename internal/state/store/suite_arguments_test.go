package store_test

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/store"
)

func testCallArguments(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	want := []store.Call{{ID: "c_5", At: noon}} // as most calls
	for i, a := range []store.Arguments{
		{Sent: json.RawMessage(`{ "n":"1",  "big": 12345678901234567890, "s":"<b>\u0000 什么" }`), Fitted: json.RawMessage(`{"n":1}`)},
		{Sent: json.RawMessage(`"{}"`)},
		{Fitted: json.RawMessage(`{}`)},
		{},
	} {
		want = append(want, store.Call{ID: "c_" + string(rune('4'-i)), At: noon, Arguments: &a})
	}
	check(t, s.AppendCalls(ctx, want))
	got, err := s.Calls(ctx, store.CallFilter{Arguments: true})
	check(t, err)
	equal(t, got, want)
	one, err := s.Call(ctx, want[1].ID)
	check(t, err)
	equal(t, one, want[1])
	for i := range want {
		want[i].Arguments = nil
	}
	got, err = s.Calls(ctx, store.CallFilter{})
	check(t, err)
	equal(t, got, want)
}

func TestArgumentsAreKeptWhereTheToolGotOthers(t *testing.T) {
	for _, c := range []struct {
		sent, fitted string
		want         bool
	}{
		{`{"a":1}`, `{"a":1}`, false}, {"", "{}", false}, {"null", "{}", false}, {"", "", false},
		{`{"a":"1"}`, `{"a":1}`, true}, {`{"a":1}`, "", true}, {"", `{"a":1}`, true}, {"{}", "", true},
	} {
		if a := store.NewArguments(json.RawMessage(c.sent), json.RawMessage(c.fitted)); (a != nil) != c.want {
			t.Errorf("%q and %q: got %v", c.sent, c.fitted, a)
		}
	}
}

func testEncryptedArguments(t *testing.T, dsn string, raw func(t *testing.T, dsn string) *sql.DB) {
	ctx := t.Context()
	with := &store.Options{SecretKey: secretKey(t, "correct horse battery staple")}
	want := store.Call{ID: "c_1", At: noon, Arguments: &store.Arguments{Sent: json.RawMessage(`{"q":"a private word"}`)}}
	check(t, open(t, dsn, with).AppendCalls(ctx, []store.Call{want}))
	var kept []byte
	check(t, raw(t, dsn).QueryRow("SELECT arguments FROM calls").Scan(&kept))
	if strings.Contains(string(kept), "private") {
		t.Errorf("kept in plain text: %q", kept)
	}
	got, err := open(t, dsn, with).Call(ctx, "c_1")
	check(t, err)
	equal(t, got, want)
	for _, opts := range []*store.Options{nil, {SecretKey: secretKey(t, "another horse battery staple")}} {
		got, err := open(t, dsn, opts).Call(ctx, "c_1")
		check(t, err)
		equal(t, got, store.Call{ID: "c_1", At: noon}) // the rest of the record is read
	}
}
