package store_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

var ann = store.Actor{Kind: "user", ID: "u_1", Name: "Ann 王"}

func testAuditNotes(t *testing.T, dsn string, _ rawFunc) {
	s := open(t, dsn, &store.Options{
		SecretKey: secretKey(t, oldKey), Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
	})
	ctx := store.As(t.Context(), ann)
	key := store.Key{ID: "k1", Name: "ci", Profile: "a", Role: "caller", Hash: []byte("hash-one"), CreatedAt: noon}
	check(t, s.CreateKey(ctx, key))
	if err := s.CreateKey(ctx, key); !fault.Is(err, fault.Conflict) { // what is refused is not noted
		t.Errorf("the same key again: %v", err)
	}
	rotated := key
	rotated.Hash = []byte("hash-two")
	check(t, s.RotateKey(ctx, rotated, key.Hash))
	given := store.Key{ID: "k2", Name: "admin", Profile: "*", Role: "admin", Hash: []byte("a"), Origin: "VAR"}
	check(t, s.GiveKey(ctx, given))
	check(t, s.GiveKey(ctx, given)) // as before
	given.Hash = []byte("b")
	check(t, s.GiveKey(ctx, given))
	check(t, s.SaveConnection(ctx, store.Connection{Server: "cloud", Owner: "k1", Issuer: "https://i", Grant: []byte("hunter2")}))
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "k1", Name: "mail", Data: []byte("hunter2")}))
	deleteKey(t, s, "ci")
	for range 2 {
		_, err := s.SaveRule(ctx, store.Document{ID: "r", Body: json.RawMessage(`{"tool": "<x>"}`)})
		check(t, err)
	}
	check(t, s.DeleteRule(ctx, "r"))
	check(t, s.SaveServerConfig(ctx, "db", []byte(`{"env": {"PASSWORD": "hunter2"}}`), true))
	check(t, s.DeleteServerConfig(ctx, "db"))
	srv := sampleServer("cloud")
	check(t, s.SaveTools(ctx, srv))
	srv.ListedAt = noon.Add(time.Hour)
	check(t, s.SaveTools(ctx, srv)) // the same definitions
	srv.Tools[1].Definition = json.RawMessage(`{"description": "new"}`)
	srv.Held = []store.Held{{Kind: "tool", Name: "two"}}
	check(t, s.SaveTools(ctx, srv))
	srv.Resources = nil // these may change all the time
	check(t, s.SaveTools(ctx, srv))
	srv.Instructions = "Other instructions."
	check(t, s.SaveTools(ctx, srv))
	check(t, s.Decide(ctx, "cloud", []store.Decision{{Kind: "tool", Name: "two", Hash: "h", Verdict: store.Approved, By: "u_1", At: noon}}))
	bot := store.Person{ID: "u_2", Issuer: "https://a", Subject: "bot", Kind: "service", Name: "Bot", Role: "caller", Profile: "a", SeenAt: noon}
	check(t, s.SavePerson(ctx, bot))
	check(t, s.SavePerson(ctx, bot))
	bot.Role = "admin"
	check(t, s.SavePerson(ctx, bot))
	for _, at := range []time.Time{noon, noon, {}, {}} {
		_, err := s.DisablePerson(ctx, "u_2", at)
		check(t, err)
	}
	check(t, s.SavePersonal(ctx, store.Personal{Owner: "u_1", Name: "jira", Data: []byte("hunter2")}))
	check(t, s.DeletePersonal(ctx, "u_1", "jira"))
	for range 2 {
		check(t, s.NoteConfig(ctx, "toolfit.yaml", json.RawMessage(`{"a": "hunter2"}`)))
	}
	check(t, s.NoteConfig(ctx, "toolfit.yaml", strings.Repeat("long ", 20_000)))

	records, err := s.AuditAfter(t.Context(), 0, 1000)
	check(t, err)
	var got []string
	for _, r := range records {
		mark := func(v json.RawMessage) string { return map[bool]string{true: "-", false: "+"}[v == nil] }
		got = append(got, fmt.Sprintf("%s %s %s %s%s", r.Actor, r.Action, r.Subject, mark(r.Before), mark(r.After)))
		for _, secret := range []string{"hunter2", "hash-one", "hash-two"} {
			if whole, _ := json.Marshal(r); strings.Contains(string(whole), secret) {
				t.Errorf("a secret is in the log: %s", whole)
			}
		}
	}
	equal(t, got, []string{
		"user Ann 王 key.create ci -+", "user Ann 王 key.rotate ci ++",
		"user Ann 王 key.create admin -+", "user Ann 王 key.rotate admin ++",
		"user Ann 王 connection.save cloud -+", "user Ann 王 value.save mail -+", "gateway key.delete ci +-", "gateway value.delete mail +-",
		"gateway connection.delete cloud +-",
		"user Ann 王 rule.save r -+", "user Ann 王 rule.save r ++", "user Ann 王 rule.delete r +-",
		"user Ann 王 server.save db -+", "user Ann 王 server.delete db +-",
		"server cloud pin.change cloud ++", "server cloud pin.change cloud ++", "server cloud pin.change cloud ++", "user Ann 王 pin.decide cloud ++",
		"service Bot person.create u_2 -+", "service Bot person.change u_2 ++",
		"user Ann 王 person.disable u_2 ++", "user Ann 王 person.enable u_2 ++",
		"user Ann 王 value.save jira -+", "user Ann 王 value.delete jira +-",
		"user Ann 王 config.change toolfit.yaml -+", "user Ann 王 config.change toolfit.yaml ++",
	})
	equal(t, string(records[12].After), `{"env":{"PASSWORD":"***"}}`)
	if last := string(records[len(records)-1].After); !strings.Contains(last, `"bytes":100002`) {
		t.Errorf("a value that is too long: %.100s", last)
	}
	verified(t, s)

	for what, want := range map[string]int{"key": 5, "key.create": 2, "ci": 3, "ke": 0, "person": 4, "%": 0} {
		found, err := s.AuditRecords(ctx, store.AuditFilter{What: what})
		check(t, err)
		if len(found) != want {
			t.Errorf("what %q: %d records, want %d", what, len(found), want)
		}
	}
	found, err := s.AuditRecords(ctx, store.AuditFilter{Actor: "Ann 王", Before: 9, Limit: 2})
	check(t, err)
	equal(t, []int64{found[0].Seq, found[1].Seq}, []int64{6, 5})
	found, err = s.AuditRecords(ctx, store.AuditFilter{Since: time.Now().Add(time.Hour)})
	check(t, err)
	equal(t, len(found), 0)
}

// verified checks the log, which must have these problems and no others.
func verified(t *testing.T, s *store.Store, problems ...string) store.AuditCheck {
	t.Helper()
	c, err := s.VerifyAudit(t.Context())
	check(t, err)
	if strings.Join(c.Problems, "\n") != strings.Join(problems, "\n") {
		t.Errorf("got %q, want %q", c.Problems, problems)
	}
	return c
}

// addRules makes changes that are noted.
func addRules(t *testing.T, s *store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := s.SaveRule(t.Context(), store.Document{ID: id, Body: json.RawMessage(`{}`)})
		check(t, err)
	}
}

func testAuditTamper(t *testing.T, dsn string, raw rawFunc) {
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, oldKey)})
	addRules(t, s, "1", "2", "3", "4", "5")
	db := raw(t, dsn)
	run := func(statements ...string) {
		t.Helper()
		for _, one := range statements {
			if _, err := db.Exec(one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
	}
	for _, one := range []string{"UPDATE audit SET subject = 'x'", "DELETE FROM audit WHERE seq = 5"} {
		if _, err := db.Exec(one); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", one, err)
		}
	}
	if _, err := db.Exec("DROP TRIGGER audit_unchanged"); err == nil { // who writes the store can do so
		run("DROP TRIGGER audit_kept")
	} else {
		run("DROP TRIGGER kept ON audit")
	}
	run("CREATE TABLE copied AS SELECT * FROM audit", "CREATE TABLE copied_head AS SELECT * FROM audit_head")
	const cut = "UPDATE audit_head SET last = 4, hash = (SELECT hash FROM audit WHERE seq = 4)"
	const head = "the note of where the log begins and ends was changed"
	restore := func() {
		run("DELETE FROM audit", "INSERT INTO audit SELECT * FROM copied", "DELETE FROM audit_head", "INSERT INTO audit_head SELECT * FROM copied_head")
	}
	for _, tamper := range []struct {
		rule       string
		statements []string
		problems   []string
	}{
		{"a changed subject", []string{"UPDATE audit SET subject = 'x' WHERE seq = 3"}, []string{"record 3 was changed"}},
		{"a changed actor", []string{"UPDATE audit SET actor_name = 'x' WHERE seq = 1"}, []string{"record 1 was changed"}},
		{"a changed value", []string{"UPDATE audit SET becomes = was WHERE seq = 5"}, []string{"record 5 was changed"}},
		{"a changed time", []string{"UPDATE audit SET at = at + 1 WHERE seq = 2"}, []string{"record 2 was changed"}},
		{"a removed record", []string{"DELETE FROM audit WHERE seq = 3"}, []string{"record 3 is missing"}},
		{"removed records at the beginning", []string{"DELETE FROM audit WHERE seq < 3"}, []string{"records 1 to 2 are missing"}},
		{"a removed end", []string{"DELETE FROM audit WHERE seq > 3"}, []string{"records 4 to 5 are missing"}},
		{"a removed end with its note", []string{"DELETE FROM audit WHERE seq > 4", cut}, []string{head}},
		{"a removed beginning with its note", []string{
			"UPDATE audit_head SET first = 2, anchor = (SELECT hash FROM audit WHERE seq = 1)", "DELETE FROM audit WHERE seq = 1",
		}, []string{head}},
		{"a removed record with those after it renumbered", []string{
			"DELETE FROM audit WHERE seq = 4", "UPDATE audit SET seq = 4 WHERE seq = 5", cut,
		}, []string{"record 4 does not follow from the one before", "record 4 was changed", head}},
		{"two that change places", []string{
			"UPDATE audit SET seq = 9 WHERE seq = 2", "UPDATE audit SET seq = 2 WHERE seq = 3", "UPDATE audit SET seq = 3 WHERE seq = 9",
		}, []string{
			"record 2 does not follow from the one before", "record 2 was changed", "record 3 does not follow from the one before",
			"record 3 was changed", "record 4 does not follow from the one before",
		}},
		{"a record in place of another without the key", []string{"UPDATE audit SET key_id = '' WHERE seq = 5"}, []string{
			"record 5 was changed", "records 5 to 5 were written without TOOLFIT_SECRET_KEY, by a program that did not have it or by an intruder",
		}},
		{"an empty log", []string{
			"DELETE FROM audit", "UPDATE audit_head SET first = 1, anchor = '', last = 0, hash = '', key_id = '', seal = ''",
		}, []string{"TOOLFIT_SECRET_KEY is set, but the end of the log is not sealed; a gateway that starts with the key seals it"}},
	} {
		run(tamper.statements...)
		t.Log(tamper.rule)
		verified(t, s, tamper.problems...)
		restore()
		verified(t, s)
	}

	// The next change seals the log anew, which must not hide that its end was removed.
	var last []byte
	check(t, db.QueryRow("SELECT hash FROM audit WHERE seq = 4").Scan(&last))
	plain := sha256.Sum256(fmt.Appendf(nil, "18:toolfit audit head1:10:1:432:%s", last)) // anybody can make this one
	for _, forged := range []bool{false, true} {
		run("DELETE FROM audit WHERE seq > 4", cut)
		if forged {
			_, err := db.Exec("UPDATE audit_head SET key_id = '', seal = $1", plain[:])
			check(t, err)
			verified(t, s, "TOOLFIT_SECRET_KEY is set, but the end of the log is not sealed; a gateway that starts with the key seals it")
		}
		addRules(t, s, "6")
		verified(t, s, "before record 5 the note of where the log begins and ends was changed, and records may be missing")
		restore()
	}
}

func testAuditKeys(t *testing.T, dsn string, _ rawFunc) {
	plain := open(t, dsn, nil)
	equal(t, verified(t, plain), store.AuditCheck{First: 1})
	addRules(t, plain, "plain")
	equal(t, verified(t, plain), store.AuditCheck{First: 1, Last: 1})

	first := open(t, dsn, &store.Options{SecretKey: secretKey(t, oldKey)})
	for range 2 {
		check(t, first.SealAudit(t.Context()))
	}
	equal(t, verified(t, first), store.AuditCheck{First: 1, Last: 2, Sealed: 2})
	both := open(t, dsn, &store.Options{SecretKey: secretKey(t, newKey+", "+oldKey)})
	addRules(t, both, "new") // after a note that the key is another
	verified(t, both)
	missing := func(seq int) string { return fmt.Sprintf("record %d is sealed with the key ", seq) }
	for s, want := range map[*store.Store]string{first: missing(3), plain: missing(2), open(t, dsn, &store.Options{SecretKey: secretKey(t, newKey)}): missing(2)} {
		c, err := s.VerifyAudit(t.Context())
		check(t, err)
		if len(c.Problems) == 0 || !strings.HasPrefix(c.Problems[0], want) {
			t.Errorf("without a key: %q", c.Problems)
		}
	}

	addRules(t, plain, "5", "6") // is possible, and seen
	const loose = "records 5 to 6 were written without TOOLFIT_SECRET_KEY, by a program that did not have it or by an intruder"
	verified(t, both, loose)
	addRules(t, both, "8")
	equal(t, verified(t, both, loose).Last, 8)
	if deleted, err := plain.TrimAudit(t.Context(), time.Now().Add(time.Hour)); deleted != 0 || err != nil {
		t.Errorf("a sealed log was trimmed without the key: %d, %v", deleted, err)
	}

	fresh := open(t, filepath.Join(t.TempDir(), "fresh.db"), &store.Options{SecretKey: secretKey(t, oldKey)})
	check(t, fresh.SealAudit(t.Context()))
	equal(t, verified(t, fresh), store.AuditCheck{First: 1, Sealed: 1})
}

func testAuditTogether(t *testing.T, open func() *store.Store) {
	gateways := []*store.Store{open(), open()}
	var all sync.WaitGroup
	for i, s := range gateways {
		for j := range 4 {
			all.Go(func() {
				for n := range 5 {
					_, err := s.SaveRule(t.Context(), store.Document{ID: fmt.Sprint(n), Body: json.RawMessage(fmt.Sprintf("[%d,%d]", i, j))})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	equal(t, verified(t, gateways[0]).Last, 40)
	records, err := gateways[1].AuditAfter(t.Context(), 0, 1000)
	check(t, err)
	last := map[string]string{}
	for _, r := range records {
		if string(r.Before) != last[r.Subject] {
			t.Errorf("record %d says that %s was before, and not %s", r.Seq, r.Before, last[r.Subject])
		}
		last[r.Subject] = string(r.After)
	}
}

func testAuditTrim(t *testing.T, dsn string, _ rawFunc) {
	now := noon
	s := open(t, dsn, &store.Options{SecretKey: secretKey(t, oldKey), Now: func() time.Time { return now }})
	addRules(t, s, "1", "2")
	now = noon.Add(time.Hour)
	addRules(t, s, "3")
	now = noon // a clock that was put back: what is newer than an old record does not go without it
	addRules(t, s, "4")
	for _, trim := range []struct {
		before  time.Time
		deleted int64
		left    store.AuditCheck
	}{
		{noon, 0, store.AuditCheck{First: 1, Last: 4, Sealed: 1}},
		{noon.Add(time.Minute), 2, store.AuditCheck{First: 3, Last: 4, Sealed: 3}},
		{noon.Add(time.Minute), 0, store.AuditCheck{First: 3, Last: 4, Sealed: 3}},
		{noon.Add(2 * time.Hour), 2, store.AuditCheck{First: 5, Last: 4, Sealed: 5}},
	} {
		deleted, err := s.TrimAudit(t.Context(), trim.before)
		check(t, err)
		equal(t, deleted, trim.deleted)
		equal(t, verified(t, s), trim.left)
	}
	addRules(t, s, "5")
	equal(t, verified(t, s), store.AuditCheck{First: 5, Last: 5, Sealed: 5})
}

func testAuditSinks(t *testing.T, dsn string, _ rawFunc) {
	now := noon
	s := open(t, dsn, &store.Options{Now: func() time.Time { return now }})
	for _, turn := range []struct {
		gateway  string
		ours     bool
		position int64 // that it has when it is ours
		sent     int64 // 0: the gateway is killed before
	}{
		{"a", true, 0, 3}, {"b", true, 3, 5}, {"a", true, 5, 0}, {"b", false, 0, 0}, {"a", true, 5, 6},
	} {
		position, ours, err := s.LeaseSink(t.Context(), "sink", turn.gateway, time.Minute)
		check(t, err)
		equal(t, ours, turn.ours)
		equal(t, position, turn.position)
		if turn.sent > 0 {
			check(t, s.SentTo(t.Context(), "sink", turn.gateway, turn.sent))
		}
	}
	_, _, err := s.LeaseSink(t.Context(), "sink", "a", time.Minute)
	check(t, err)
	now = noon.Add(2 * time.Minute)
	position, ours, err := s.LeaseSink(t.Context(), "sink", "b", time.Minute)
	check(t, err)
	equal(t, ours, true)
	check(t, s.SentTo(t.Context(), "sink", "a", 1)) // whose turn is over
	equal(t, position, 6)
	check(t, s.SentTo(t.Context(), "sink", "b", 7))
	position, _, err = s.LeaseSink(t.Context(), "sink", "c", time.Minute)
	check(t, err)
	equal(t, position, 7)
}
