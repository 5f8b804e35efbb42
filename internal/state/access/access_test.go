package access_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestRoles(t *testing.T) {
	cases := []struct {
		name              string
		role              access.Role
		call, read, admin bool
	}{
		{"a caller calls and no more", access.Caller, true, false, false},
		{"a viewer reads and no more", access.Viewer, false, true, false},
		{"an admin may everything", access.Admin, true, true, true},
		{"no role may nothing", "", false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := access.Principal{Role: c.role}
			if p.MayCall() != c.call || p.MayRead() != c.read || p.MayAdmin() != c.admin {
				t.Errorf("call %v, read %v, admin %v", p.MayCall(), p.MayRead(), p.MayAdmin())
			}
		})
	}
}

func TestProfileFor(t *testing.T) {
	cases := []struct{ name, own, requested, want string }{
		{"none asked for means the own one", "ops", "", "ops"},
		{"the own one by name", "ops", "ops", "ops"},
		{"another one is forbidden", "ops", "default", ""},
		{"any and none asked for means default", "*", "", "default"},
		{"any may use each", "*", "ops", "ops"},
		{"* itself is no profile", "*", "*", ""},
		{"* is not one's own either", "ops", "*", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := access.Principal{Profile: c.own}.ProfileFor(c.requested)
			if got != c.want || (c.want == "") != fault.Is(err, fault.Forbidden) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestNewKey(t *testing.T) {
	cases := []struct {
		name          string
		key, profile  string
		role          access.Role
		stored, fails string
	}{
		{"a caller's profile is default when none is named", "laptop", "", access.Caller, "default", ""},
		{"an admin's profile is any when none is named", "boss", "", access.Admin, "*", ""},
		{"a named profile stays", "ci-2.x_y", "ops", access.Admin, "ops", ""},
		{"names may be Chinese", "笔记本", "ops", access.Viewer, "ops", ""},
		{"only an admin has any profile", "ci", "*", access.Caller, "", "needs one profile"},
		{"an unknown role is refused", "ci", "", "root", "", "unknown role"},
		{"an empty name is refused", "", "", access.Caller, "", "is empty"},
		{"a long name is refused", strings.Repeat("a", 65), "", access.Caller, "", "longer than 64"},
		{"a name with a space is refused", "a b", "", access.Caller, "", "' '"},
		{"a name does not begin like an option", "-a", "", access.Caller, "", "'-'"},
		{"a broken name is refused", "a\xff", "", access.Caller, "", "may not have"},
		{"local is not a key", "local", "", access.Admin, "", "is taken"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, row, err := access.NewKey(c.key, c.profile, c.role, bytes.NewReader(make([]byte, 30)))
			if c.fails != "" {
				if !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), c.fails) || text != "" {
					t.Fatalf("got %v, want a bad_request that says %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := "tf_aaaaaaaa_" + strings.Repeat("a", 40); text != want {
				t.Errorf("text %q, want %q", text, want)
			}
			if row.ID != "aaaaaaaa" || row.Name != c.key || row.Profile != c.stored || row.Role != string(c.role) || len(row.Hash) != 32 {
				t.Errorf("row %+v", row)
			}
		})
	}
}

func TestNewKeyUsesAllRandomness(t *testing.T) {
	one, _, err := access.NewKey("a", "", access.Caller, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := access.NewKey("a", "", access.Caller, nil)
	if err != nil || one == two {
		t.Fatalf("%q and %q, %v", one, two, err)
	}
	if _, _, err := access.NewKey("a", "", access.Caller, bytes.NewReader(make([]byte, 29))); err == nil {
		t.Fatal("a key was made of too little randomness")
	}
}

func FuzzAuthenticate(f *testing.F) {
	text, row, err := access.NewKey("a", "ops", access.Caller, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "tf_", "tf_aaaaaaaa_", "tf_aaaaaaaa_b", text, text + "x", text[:len(text)-1], "Bearer " + text,
		strings.ToUpper(text)} {
		f.Add(seed)
	}
	keys := access.New(source(func() ([]store.Key, error) { return []store.Key{row}, nil }), nil)
	f.Fuzz(func(t *testing.T, given string) {
		who, err := keys.Authenticate(context.Background(), given)
		if given == text {
			if err != nil || who.ID != row.ID {
				t.Fatalf("the key itself: %+v, %v", who, err)
			}
			return
		}
		if !fault.Is(err, fault.Unauthorized) || who != (access.Principal{}) {
			t.Fatalf("%q: got %+v, %v", given, who, err)
		}
		if len(given) > 20 && strings.Contains(err.Error(), given) {
			t.Fatal("the error repeats what was given")
		}
	})
}

func TestStoreErrorIsNotUnauthorized(t *testing.T) {
	down := errors.New("disk gone")
	keys := access.New(source(func() ([]store.Key, error) { return nil, down }), nil)
	_, err := keys.Authenticate(t.Context(), "tf_aaaaaaaa_bbbb")
	if !errors.Is(err, down) || fault.Is(err, fault.Unauthorized) {
		t.Fatalf("got %v", err)
	}
}
