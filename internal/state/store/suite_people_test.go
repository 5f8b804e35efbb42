package store_test

import (
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func testPeople(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	ann := store.Person{ID: "u_1", Issuer: "https://a", Subject: "ann", Kind: "user", Name: "Ann 王", Role: "caller", Profile: "a,b", SeenAt: noon}
	bot := store.Person{ID: "u_2", Issuer: "https://a", Subject: "bot", Kind: "service", Name: "Ann 王", Role: "admin", Profile: "*", SeenAt: noon}
	bot.Groups = []string{}
	check(t, s.SavePerson(ctx, ann))
	check(t, s.SavePerson(ctx, bot))
	ann.CreatedAt = noon
	ann.SeenAt = noon.Add(time.Hour)
	ann.Groups = []string{"eng", "运维"}
	check(t, s.SavePerson(ctx, ann))
	later := ann
	later.Groups = nil
	check(t, s.SavePerson(ctx, later))
	bot.CreatedAt = noon
	for text, want := range map[string][]store.Person{"": {ann, bot}, "BO": {bot}, "ann 王": {ann, bot}, "u_1": {ann}, "%": nil} {
		got, err := open().People(ctx, text, 10)
		check(t, err)
		equal(t, got, want)
	}
	got, err := s.People(ctx, "", 1)
	check(t, err)
	equal(t, got, []store.Person{ann})

	if _, err := s.DisablePerson(ctx, "Ann 王", noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("two of one name: %v", err)
	}
	if _, err := s.DisablePerson(ctx, "nobody", noon); !fault.Is(err, fault.NotFound) {
		t.Errorf("nobody: %v", err)
	}
	for range 2 {
		one, err := s.DisablePerson(ctx, "ann", noon)
		check(t, err)
		ann.DisabledAt = noon
		equal(t, one, ann)
	}
	check(t, s.SavePerson(ctx, later)) // who is seen stays disabled
	out, err := s.DisabledPeople(ctx)
	check(t, err)
	equal(t, out, []string{"u_1"})
	one, err := s.Person(ctx, "u_1")
	check(t, err)
	equal(t, one, ann)

	_, err = s.DisablePerson(ctx, "u_1", time.Time{})
	check(t, err)
	out, err = s.DisabledPeople(ctx)
	check(t, err)
	equal(t, out, nil)
	namesake := store.Person{ID: "u_4", Issuer: "https://a", Subject: "eve", Kind: "user", Name: "u_1", Role: "caller", Profile: "a", SeenAt: noon}
	check(t, s.SavePerson(ctx, namesake))
	one, err = s.DisablePerson(ctx, "u_1", noon)
	if err != nil || one.ID != "u_1" {
		t.Errorf("somebody calls themselves by another's id: %+v, %v", one, err)
	}
	if _, err := s.Person(ctx, "u_3"); !fault.Is(err, fault.NotFound) {
		t.Errorf("nobody: %v", err)
	}
}
