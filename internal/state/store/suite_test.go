package store_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// suite holds the rules that every kind of store keeps. newDSN gives the address of an
// empty store; raw opens it beside the store, as its administrator would.
func suite(t *testing.T, newDSN func(t *testing.T) string, raw func(t *testing.T, dsn string) *sql.DB) {
	// Each call of open gives another handle on the one store of the test.
	rules := []struct {
		name string
		test func(t *testing.T, open func() *store.Store)
	}{
		{"definitions come back byte for byte and in order", testBytes},
		{"a new list replaces the old one and clears the reason", testReplace},
		{"a failed check keeps the lists", testFailedCheck},
		{"a failed check of an unknown server is kept", testUnknownCheck},
		{"removing a server removes its lists and is repeatable", testRemove},
		{"decisions about definitions outlive new lists, and go with their server", testDecisions},
		{"definitions that are replaced are kept, with when they were listed and what was decided", testDefinitions},
		{"of replaced definitions the last ones are kept, of a tool and of a server", testManyDefinitions},
		{"long lists of every length are stored whole", testLongLists},
		{"a list that is replaced is read before or after, never between", testSnapshot},
		{"keys are found again, named once, and deleted by id or name", testKeys},
		{"a key comes back whole, by its id before its name", testKeyWhole},
		{"a rotated key has two secrets and the same id", testRotateKey},
		{"when keys were used is stored together", testUseKeys},
		{"several may give the same key, and take none away that was made by hand", testGiveKey},
		{"people are noted, disabled and enabled", testPeople},
		{"a call comes back whole", testCallWhole},
		{"arguments of calls come back byte for byte", testCallArguments},
		{"every text comes back byte for byte", testOddText},
		{"batches of every size are stored whole and once", testBatches},
		{"a batch with one call twice stores it once", testTwiceInBatch},
		{"calls are filtered, newest first, page by page", testFilter},
		{"the n-th newest call is found", testCallAt},
		{"a wrong level is refused", testWrongLevel},
		{"calls are found and counted by the rules of the policy that applied", testPolicyHits},
		{"savings are summed by what is asked for", testSavings},
		{"ids sort by bytes", testByteOrder},
		{"old calls are trimmed by time", testTrimTime},
		{"the oldest calls are trimmed by size", testTrimSize},
		{"the store knows its size and its oldest call", testSize},
		{"several that trim at once delete no more than one", testTrimTogether},
		{"what one handle wrote another reads", testTwoHandles},
		{"results come back byte for byte", testResultBytes},
		{"unknown, expired and others' results are not found alike", testResultUnknown},
		{"a ref is taken once by each owner", testResultTaken},
		{"people find a result by its ref or its call alone", testFindResult},
		{"results are filtered, newest first, page by page", testResultPages},
		{"results are trimmed by expiry", testTrimExpired},
		{"the oldest results of an owner are trimmed by size", testTrimOwner},
		{"the oldest results of all are trimmed by size", testTrimTotal},
		{"many keep, read and trim results at once", testResultsAtOnce},
		{"sessions are created, changed and deleted", testSessions},
		{"of two changes to a session at once none is lost", testSessionsAtOnce},
		{"a session is changed and taken for its owner alone", testSessionOwner},
		{"sessions are filtered, newest first, page by page", testSessionPages},
		{"wrong sessions are refused", testWrongSessions},
		{"sessions are trimmed by their last change", testTrimSessions},
		{"sessions are trimmed by their size, of an owner and of all", testSessionSizes},
		{"messages keep their order, whoever appends", testMessages},
		{"agents, rules and recipes have versions", testDocuments},
		{"of each tool and owner the newest uses are kept", testUses},
		{"runs are kept, listed and trimmed", testRuns},
		{"changes of many gateways make one chain of records", testAuditTogether},
		{"a canceled context is no fault of the store", testCanceled},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			dsn := newDSN(t)
			r.test(t, func() *store.Store { return open(t, dsn, nil) })
		})
	}
	whole := []struct {
		name string
		test func(t *testing.T, dsn string, raw func(t *testing.T, dsn string) *sql.DB)
	}{
		{"a restart keeps everything", testRestart},
		{"records hold their size after a flood", testSizeHoldsAfterAFlood},
		{"many open an empty store at once", testManyOpen},
		{"a store of a newer version is used untouched, if that is possible", testNewer},
		{"the database of another program is refused untouched", testOtherProgram},
		{"configurations are kept, replaced and deleted", testConfigs},
		{"configurations are encrypted with a key", testEncrypted},
		{"a person's values are sealed, theirs alone, and expire", testPersonal},
		{"the secret key can be changed while gateways run", testRotation},
		{"results are encrypted with a key", testEncryptedResults},
		{"arguments of calls are encrypted with a key", testEncryptedArguments},
		{"waiting calls are encrypted with a key", testEncryptedWaiting},
		{"waiting calls come back byte for byte", testWaitingWhole},
		{"messages of waiting calls are cut between characters", testWaitingMessage},
		{"wrong waiting calls are refused", testWaitingWrong},
		{"unknown, expired and others' waiting calls are not found alike", testWaitingUnknown},
		{"a waiting call that has ended stays as it is", testWaitingForward},
		{"of many that claim a waiting call at once one wins", testWaitingClaim},
		{"leases of waiting calls are renewed and lost", testWaitingLeases},
		{"of a claim and a renewal at once one wins", testWaitingClaimOrRenew},
		{"open calls are limited, of an owner and of all", testWaitingLimits},
		{"waiting calls are filtered, newest first, page by page", testWaitingPages},
		{"waiting calls are trimmed by expiry", testTrimWaiting},
		{"savings are those of the calls, whoever adds and trims", testSums},
		{"activity is that of the calls, whoever adds, and outlives them", testActivity},
		{"of a principal its newest calls are counted", testOwnActivity},
		{"calls of a tool are found where they are", testNarrowToTool},
		{"calls of gateways whose clocks differ are all counted", testSumsOfClocksThatDiffer},
		{"replicas are listed while their heart beats", testReplicas},
		{"what a dead replica did is found", testLeases},
		{"of many that claim a home at once one gets it", testClaimHome},
		{"what is stored of a home outlives its replica", testHomeData},
		{"what is stored of a home is sealed", testHomeSecret},
		{"a home changes hands only when its owner is gone", testHomes},
		{"tokens are taken while there are some, and come back", testTokens},
		{"of many that take tokens at once none takes what another has", testTokensAtOnce},
		{"calls are counted for all their limits or for none", testLimits},
		{"of many that count at once as many pass as may", testLimitsAtOnce},
		{"grants end with all their tokens, which are exchanged as often as they may be", testGrants},
		{"of many that exchange a code at once one gets tokens", testGrantsAtOnce},
		{"sign-ins are taken once, registered clients expire", testLogins},
		{"connections are kept, listed and ended", testConnections},
		{"of many gateways one at a time renews a connection", testConnectionLeases},
		{"a sign-in to a server is finished once, by whoever began it", testConnectionLogins},
		{"tokens are sealed for their server and owner", testConnectionsSealed},
		{"connections open for their server and owner alone, and go with their key", testOwnConnections},
		{"connections that nobody can use are trimmed", testTrimConnections},
		{"every change is noted once, with its actor and without secrets", testAuditNotes},
		{"whoever changes the log is found out", testAuditTamper},
		{"a sealed log is sealed on, and verified with every key that it had", testAuditKeys},
		{"old records are trimmed without a break", testAuditTrim},
		{"one gateway at a time sends to a sink, from where the last one ended", testAuditSinks},
		{"a question about a call is asked once, decided once and used once", testApprovals},
		{"a paused script goes on once, for its owner alone", testScriptRuns},
		{"of many gateways at once one asks, one decides and one uses", testApprovalsAtOnce},
		{"without a key, secrets are refused and the rest is plain", testNoKey},
		{"another key leaves the other configurations readable", testOtherKey},
	}
	for _, r := range whole {
		t.Run(r.name, func(t *testing.T) { r.test(t, newDSN(t), raw) })
	}
	t.Run("records hold their size on disk within a tenth", func(t *testing.T) { testSizeHolds(t, newDSN, raw) })
}

func open(t *testing.T, dsn string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn, opts)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	check(t, s.Patient())
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func deleteKey(t *testing.T, s *store.Store, idOrName string) []store.Connection {
	t.Helper()
	ended, err := s.DeleteKey(t.Context(), idOrName)
	check(t, err)
	return ended
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("want -, got +:\n%s", diff)
	}
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 123456000, time.UTC)

func sampleServer(id tool.ServerID) store.Server {
	return store.Server{
		ID: id, Info: json.RawMessage(`{"name":"x"}`), Capabilities: json.RawMessage(`{"prompts":{}}`), Instructions: "Ask first.",
		ListedAt: noon, CheckedAt: noon, Tools: []store.Tool{{Name: "one", Definition: json.RawMessage(`{}`)},
			{Name: "two", Definition: json.RawMessage(`{}`)}},
		Prompts: []json.RawMessage{[]byte(`{"name":"p"}`)}, Resources: []json.RawMessage{[]byte(`{"uri":"r:"}`)},
		Templates: []json.RawMessage{[]byte(`{"uriTemplate":"t:"}`)}, Skills: []json.RawMessage{[]byte(`{"uri":"s:" }`), []byte(`{}`)}, Held: []store.Held{{Kind: "prompt", Name: "p"}},
		Hosts: []json.RawMessage{[]byte(`"https://a.example"`), []byte(`"https://b.example"`)},
	}
}

func testBytes(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	srv := store.Server{
		ID: "cloud", Info: json.RawMessage(`{ "name":"x","n":12345678901234567890 }`), ListedAt: noon, CheckedAt: noon,
		Capabilities: json.RawMessage(" {\"tools\":{ },\"\xff\":0}"), Instructions: "Use it\u2028well.\x00\xff\n",
		Prompts:   []json.RawMessage{[]byte(`{"name":"z"}`), []byte(`{"name":"a", "n":1e400}`), []byte(`{"name":"z"}`)},
		Resources: []json.RawMessage{[]byte("{\"uri\":\"\xfe\x00\"}"), {}},
		Templates: []json.RawMessage{[]byte(` {} `)},
		Tools: []store.Tool{
			{Name: "z", Definition: json.RawMessage("{\"b\":1,\n \"a\" : 1e400, \"s\":\"\\u0000é\U0001F600\"}")},
			{Name: "a", Definition: json.RawMessage("{\"bad utf-8\":\"\xff\xfe\", \"nul\":\"\x00\"}")},
			{Name: "z", Definition: json.RawMessage(`{"the same name":"twice"}`)},
			{Name: "123", Definition: json.RawMessage(`0042`)},
			{Name: ""},
		},
		Held: []store.Held{
			{Kind: "instructions", KeptOut: true}, {Kind: "resource", Name: "\xfe\x00"},
			{Kind: "tool", Name: "a", Was: json.RawMessage("{\"was\":\"\xff\"}")},
			{Kind: "tool", Name: "b", KeptOut: true, Was: json.RawMessage("0")},
		},
	}
	check(t, s.SaveTools(ctx, srv))
	got, err := s.Servers(ctx)
	check(t, err)
	equal(t, got, []store.Server{srv})
}

func testReplace(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	check(t, s.SaveTools(ctx, sampleServer("b")))
	check(t, s.SaveTools(ctx, store.Server{ID: "a", ListedAt: noon}))
	check(t, s.SaveCheck(ctx, "b", noon.Add(time.Minute), "exit status 1"))
	later := noon.Add(time.Hour)
	check(t, s.SaveTools(ctx, store.Server{ID: "b", ListedAt: later, Reason: "not looked at", Tools: []store.Tool{{Name: "two"}}}))
	got, err := s.Servers(ctx)
	check(t, err)
	equal(t, got, []store.Server{
		{ID: "a", ListedAt: noon, CheckedAt: noon},
		{ID: "b", ListedAt: later, CheckedAt: later, Tools: []store.Tool{{Name: "two"}}},
	})
}

func testFailedCheck(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	srv := sampleServer("a")
	check(t, s.SaveTools(ctx, srv))
	srv.CheckedAt = noon.Add(time.Minute)
	srv.Reason = "connection refused"
	check(t, s.SaveCheck(ctx, srv.ID, srv.CheckedAt, srv.Reason))
	got, err := s.Servers(ctx)
	check(t, err)
	equal(t, got, []store.Server{srv})
}

func testUnknownCheck(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	check(t, s.SaveCheck(ctx, "new", noon, "no such command"))
	got, err := s.Servers(ctx)
	check(t, err)
	equal(t, got, []store.Server{{ID: "new", CheckedAt: noon, Reason: "no such command"}})
}

func testRemove(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	check(t, s.SaveTools(ctx, sampleServer("a")))
	check(t, s.RemoveServer(ctx, "a"))
	check(t, s.RemoveServer(ctx, "a"))
	check(t, s.SaveCheck(ctx, "a", noon, ""))
	got, err := s.Servers(ctx)
	check(t, err)
	equal(t, got, []store.Server{{ID: "a", CheckedAt: noon}})
}

func testKeys(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	one := store.Key{ID: "id1", Name: "laptop", Profile: "ops", Role: "caller", Hash: []byte{0, 1, 0xff}, CreatedAt: noon}
	two := store.Key{ID: "id2", Name: "ci", Profile: "*", Role: "admin", Hash: []byte{2}, CreatedAt: noon.Add(time.Second)}
	check(t, s.CreateKey(ctx, two))
	check(t, s.CreateKey(ctx, one))
	for _, taken := range []store.Key{{ID: "id1", Name: "x", Hash: []byte{}}, {ID: "x", Name: "ci", Hash: []byte{}}} {
		if err := s.CreateKey(ctx, taken); !fault.Is(err, fault.Conflict) {
			t.Fatalf("create %+v: got %v, want a conflict", taken, err)
		}
	}
	got, err := s.Keys(ctx)
	check(t, err)
	equal(t, got, []store.Key{one, two})

	deleteKey(t, s, "id1")
	deleteKey(t, s, "ci")
	if _, err := s.DeleteKey(ctx, "ci"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("delete twice: got %v, want not found", err)
	}
	got, err = s.Keys(ctx)
	check(t, err)
	equal(t, got, nil)
}

func testCallWhole(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	want := store.Call{
		ID: "c_1", At: noon, Principal: "p", Profile: "ops", Session: "ses_1", Agent: "helper", MCPSession: "m",
		Server: "cloud", Tool: "cloud__list", Upstream: "list", Outcome: "error", Code: "upstream_down",
		Message: "it’s \"down\"\n\x00", Level: "error", Duration: 1234567 * time.Microsecond, BytesIn: 1, BytesFull: 1 << 40, BytesSent: 3,
		Repairs: `[{"path":"/n","from":"1","to":1}]`, Rule: "env-list", Ref: "r_7f3kq2", Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
		TokensIn: 4, TokensFull: 1 << 33, TokensSent: 6, Shadow: "later", TokensShadow: 5,
		Arguments: &store.Arguments{Sent: json.RawMessage(`{}`)},
	}
	// A field that is not named above gets a value, too.
	fields := reflect.ValueOf(&want).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i)
		switch {
		case !field.IsZero():
		case field.Kind() == reflect.String:
			field.SetString(fields.Type().Field(i).Name)
		case field.CanInt():
			field.SetInt(int64(i))
		}
	}
	check(t, s.AppendCalls(ctx, []store.Call{want}))
	got, err := s.Call(ctx, "c_1")
	check(t, err)
	equal(t, got, want)
	if _, err := s.Call(ctx, "c_2"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("unknown id: got %v, want not found", err)
	}
}

func testBatches(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	next := 0
	for _, size := range []int{0, 1, 7, 8, 63, 64, 65, 256, 137} {
		batch := make([]store.Call, size)
		for i := range batch {
			batch[i] = sampleCall(next)
			next++
		}
		check(t, s.AppendCalls(ctx, batch))
		check(t, s.AppendCalls(ctx, batch)) // as a writer does that could not know
	}
	got, err := s.Calls(ctx, store.CallFilter{Limit: 1000})
	check(t, err)
	if len(got) != next {
		t.Fatalf("stored %d calls, want %d", len(got), next)
	}
	for i, c := range got {
		equal(t, c, sampleCall(next-1-i))
	}
}

func appendSamples(t *testing.T, s *store.Store, n int, change func(i int, c *store.Call)) {
	t.Helper()
	calls := make([]store.Call, n)
	for i := range calls {
		calls[i] = sampleCall(i)
		if change != nil {
			change(i, &calls[i])
		}
	}
	check(t, s.AppendCalls(t.Context(), calls))
}

func ids(calls []store.Call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func testTrimTime(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	appendSamples(t, s, 2600, nil)
	n, err := s.TrimCalls(ctx, time.Time{})
	check(t, err)
	equal(t, n, 0)
	n, err = s.TrimCalls(ctx, sampleCall(2100).At)
	check(t, err)
	equal(t, n, 2100)
	left, err := s.Calls(ctx, store.CallFilter{Limit: 1000})
	check(t, err)
	equal(t, len(left), 500)
	equal(t, left[499].ID, sampleCall(2100).ID)
}

func testTrimSize(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	long := strings.Repeat("x", 1000)
	appendSamples(t, s, 2000, func(_ int, c *store.Call) { c.Message = long })
	n, err := s.TrimRecords(ctx, 1_000_000)
	check(t, err)
	left, err := s.Calls(ctx, store.CallFilter{Limit: 1000})
	check(t, err)
	if int(n)+len(left) != 2000 || len(left) < 450 || len(left) > 650 {
		t.Fatalf("1 MB of calls of some 1.7 kB each: deleted %d, kept %d", n, len(left))
	}
	equal(t, left[0].ID, sampleCall(1999).ID)
	n, err = s.TrimRecords(ctx, 1_000_000)
	check(t, err)
	equal(t, n, 0)
}

func testSize(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	empty, oldest, err := s.Size(ctx)
	check(t, err)
	equal(t, oldest.IsZero(), true)
	appendSamples(t, s, 500, func(_ int, c *store.Call) { c.Message = strings.Repeat("x", 1000) })
	calls, oldest, err := s.Size(ctx)
	check(t, err)
	equal(t, oldest.Equal(sampleCall(0).At), true)
	body, err := json.Marshal(rand.Text() + strings.Repeat(rand.Text(), 20_000))
	check(t, err)
	check(t, s.SaveResult(ctx, store.Result{Ref: "r", Owner: "ann", At: time.Now(), Args: []byte("{}"), Body: body}))
	all, _, err := s.Size(ctx)
	check(t, err)
	if calls < empty+500_000 || all <= calls {
		t.Errorf("empty %d, with 500 calls of 1 kB %d, with a result %d", empty, calls, all)
	}
}

func testTwoHandles(t *testing.T, open func() *store.Store) {
	one := open()
	two := open()
	ctx := t.Context()
	const each = 40
	errs := make(chan error, 2)
	for w, s := range []*store.Store{one, two} {
		go func() { errs <- writeSome(ctx, s, w, each) }()
	}
	check(t, <-errs)
	check(t, <-errs)
	for _, s := range []*store.Store{one, two} {
		got, err := s.Calls(ctx, store.CallFilter{Limit: 1000})
		check(t, err)
		equal(t, len(got), 2*each*9)
		servers, err := s.Servers(ctx)
		check(t, err)
		equal(t, len(servers), 2)
	}
}

// writeSome appends batches of nine calls and saves a tool list after each.
func writeSome(ctx context.Context, s *store.Store, writer, batches int) error {
	for b := range batches {
		calls := make([]store.Call, 9)
		for i := range calls {
			calls[i] = sampleCall(b*9 + i)
			calls[i].ID += fmt.Sprint("_", writer)
		}
		if err := s.AppendCalls(ctx, calls); err != nil {
			return err
		}
		srv := store.Server{ID: tool.ServerID(fmt.Sprint("s", writer)), Tools: []store.Tool{{Name: fmt.Sprint(b)}}}
		if err := s.SaveTools(ctx, srv); err != nil {
			return err
		}
	}
	return nil
}
