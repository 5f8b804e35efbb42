package store_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// Each release leaves a small store of each kind in testdata/releases, made just before it:
//
//	go test ./internal/state/store -run Release -release v0.2.0
//
// It never changes after that: what it holds must be readable by every later release.
var release = flag.String("release", "", "make the stores of this release in testdata/releases")

const (
	releases   = "testdata/releases"
	releaseKey = "the key of the stores in testdata/releases"
)

// empty are tables with nothing in them in a SQLite store: results are in files beside it.
var empty = map[string]bool{"results": true}

func openRelease(t *testing.T, dsn string) *store.Store {
	t.Helper()
	key, err := store.ParseSecretKey(releaseKey)
	check(t, err)
	return open(t, dsn, &store.Options{SecretKey: key, Now: (&clock{noon}).now})
}

// fillRelease stores a bit of everything. A new kind of data is added here; the test tells which table has nothing.
func fillRelease(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := store.As(t.Context(), store.Actor{Kind: "key", ID: "k_1", Name: "安"})
	later := noon.Add(time.Hour)
	call, other := sampleCall(1), plainCall(2)
	for i, c := range []*store.Call{&call, &other} { // long before now, so that they are summed
		c.At = noon.Add(time.Duration(i-24) * time.Hour)
		c.ID = string(store.AppendCallTime(nil, c.At)) + "0n0de0n0"
	}
	call.Arguments = &store.Arguments{Sent: json.RawMessage(`{"客户":"1"}`), Fitted: json.RawMessage(`{"客户":1}`)}
	result := sampleResult(1)
	result.Body = json.RawMessage(`{"rows":["文"]}`)
	question := question("a_1", "ann", "d1")
	person := store.Person{ID: "u_1", Issuer: "https://id.example", Subject: "1", Kind: "user", Name: "安", Role: "caller", SeenAt: noon}
	grant := store.Grant{ID: "g_1", Person: "u_1", Client: "https://a.example", Redirect: "http://127.0.0.1/cb", ExpiresAt: later}
	run := store.Run{
		ID: "run_1", At: noon, Name: "登录", Outcome: "passed", Summary: json.RawMessage(`{}`), Report: []byte("<p>ok"),
		Pictures: []store.RunPicture{{Step: 1, Type: "image/png", Data: []byte{0, 0xff}}},
	}
	script := store.ScriptRun{
		ID: "c_1", Owner: "ann", Profile: "default", Tool: "run_script", Digest: "d", State: store.ScriptPaused, At: noon, Expires: later,
		Body: []byte(`{"code":"return 1"}`),
	}
	document := store.Document{ID: "d_1", Body: json.RawMessage(`{"name":"文"}`)}
	home := store.Home{Kind: "session", Key: "h_1"}
	for _, step := range []func() error{
		func() error { return s.SaveTools(ctx, sampleServer("cloud")) },
		func() error { return s.SaveTools(ctx, otherServer("cloud")) },
		func() error {
			return s.Decide(ctx, "cloud", []store.Decision{{Kind: "prompt", Name: "p", Hash: "h", Verdict: store.Approved, By: "k_1", At: noon}})
		},
		func() error {
			return s.SaveServerConfig(ctx, "notes", []byte(`{"url":"https://notes.example","secret":"hunter2"}`), true)
		},
		func() error {
			return s.CreateKey(ctx, store.Key{ID: "k_1", Name: "安", Hash: []byte{1, 0, 0xff}, CreatedAt: noon})
		},
		func() error { return s.UseKeys(ctx, []string{"k_1"}, noon) },
		func() error { return s.SavePerson(ctx, person) },
		func() error { return s.AppendCalls(ctx, []store.Call{call, other}) },
		func() error { return s.SumCalls(ctx) },
		func() error { return s.SaveResult(ctx, result) },
		func() error { return s.AddWaiting(ctx, sampleWaiting(1), store.WaitingLimits{}) },
		func() error { return s.SaveScriptRun(ctx, script) },
		func() error { return second(s.AskApproval(ctx, question, 9)) },
		func() error {
			return last(s.CreateSession(ctx, store.Session{ID: "ses_1", Owner: "ann", Title: "文", Metadata: map[string]json.RawMessage{"a": []byte("1")}}))
		},
		func() error { return s.AppendMessages(ctx, "ses_1", json.RawMessage(`{"role":"user"}`)) },
		func() error { return last(s.SaveAgent(ctx, document)) },
		func() error { return last(s.SaveRule(ctx, document)) },
		func() error { return last(s.SaveRecipe(ctx, document)) },
		func() error {
			return s.AddUse(ctx, store.Use{Owner: "ann", Tool: "cloud__one", Terms: json.RawMessage(`["文"]`), At: noon})
		},
		func() error { return s.SaveRun(ctx, run) },
		func() error { return s.BeatReplica(ctx, store.Replica{ID: "one", URL: "http://one", Version: "v"}) },
		func() error { return second(s.ClaimHome(ctx, home, "one", "", time.Minute)) },
		func() error { return s.StoreHome(ctx, home, "one", []byte("data")) },
		func() error { return second(s.TakeTokens(ctx, "ann", store.Tokens{Every: time.Hour, Burst: 10}, 1, 0)) },
		func() error { return second(s.CountCall(ctx, []policy.Count{{Key: "mails", Most: 2, Per: time.Hour}})) },
		func() error { return s.CreateGrant(ctx, grant, token("code", store.CodeToken, later)) },
		func() error { return s.SaveLogin(ctx, hashOf("login"), []byte("sealed"), later) },
		func() error {
			return s.SaveClient(ctx, store.OAuthClient{ID: "client", Name: "客户", Redirects: []string{"http://127.0.0.1"}, ExpiresAt: later})
		},
		func() error {
			return s.SaveConnection(ctx, store.Connection{Server: "notes", Owner: "u_1", Grant: []byte("令牌"), Expires: later})
		},
		func() error {
			return s.AddConnectionLogin(ctx, "state", store.ConnectionLogin{Server: "notes", Owner: "u_1", Data: []byte("x")}, time.Hour)
		},
		func() error {
			return s.SaveOwnClient(ctx, "https://as.example", "http://127.0.0.1", []byte("registered"))
		},
		func() error {
			return s.SavePersonal(ctx, store.Personal{Owner: "ann", Name: "jira", Data: []byte("hunter2")})
		},
		func() error { return second(s.LeaseSink(ctx, "siem", "one", time.Hour)) },
		func() error { return s.SentTo(ctx, "siem", "one", 1) },
	} {
		check(t, step())
	}
}

func last[T any](_ T, err error) error           { return err }
func second[T, U any](_ T, _ U, err error) error { return err }

// everything reads all that can be asked for.
func everything(t *testing.T, s *store.Store) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{}
	for name, read := range map[string]func() (any, error){
		"servers":     func() (any, error) { return s.Servers(ctx) },
		"definitions": func() (any, error) { return s.Definitions(ctx, "cloud", "one") },
		"configs":     func() (any, error) { return s.ServerConfigs(ctx) },
		"keys":        func() (any, error) { return s.Keys(ctx) },
		"people":      func() (any, error) { return s.People(ctx, "", 100) },
		"calls":       func() (any, error) { return s.Calls(ctx, store.CallFilter{Arguments: true}) },
		"savings":     func() (any, error) { return s.Savings(ctx, store.ByTool, time.Time{}) },
		"activity": func() (any, error) {
			return s.Activity(ctx, store.ActivityFilter{Since: noon.Add(-25 * time.Hour).Truncate(20 * time.Minute), Step: 20 * time.Minute})
		},
		"result":      func() (any, error) { return s.Result(ctx, sampleResult(1).Owner, sampleResult(1).Ref) },
		"waiting":     func() (any, error) { return s.WaitingCalls(ctx, store.WaitingFilter{}) },
		"script":      func() (any, error) { return s.ScriptRun(ctx, "ann", "c_1") },
		"approvals":   func() (any, error) { return s.Approvals(ctx, false, "", 100) },
		"sessions":    func() (any, error) { return s.Sessions(ctx, store.SessionFilter{}) },
		"messages":    func() (any, error) { return s.Messages(ctx, "ses_1", 0, 100) },
		"agents":      func() (any, error) { return s.Agents(ctx) },
		"rules":       func() (any, error) { return s.Rules(ctx) },
		"recipes":     func() (any, error) { return s.Recipes(ctx) },
		"uses":        func() (any, error) { return s.Uses(ctx, "ann") },
		"run":         func() (any, error) { return s.Run(ctx, "run_1") },
		"pictures":    func() (any, error) { return s.RunPictures(ctx, "run_1") },
		"replicas":    func() (any, error) { return s.Replicas(ctx, time.Hour) },
		"home":        func() (any, error) { return s.Home(ctx, store.Home{Kind: "session", Key: "h_1"}) },
		"grant":       func() (any, error) { return s.Grant(ctx, "g_1") },
		"client":      func() (any, error) { return s.Client(ctx, "client") },
		"connection":  func() (any, error) { return s.Connection(ctx, "notes", "u_1") },
		"own client":  func() (any, error) { return s.OwnClient(ctx, "https://as.example", "http://127.0.0.1") },
		"personal":    func() (any, error) { return s.Personal(ctx, "ann", "jira") },
		"audit":       func() (any, error) { return s.AuditAfter(ctx, 0, 1000) },
		"audit check": func() (any, error) { return s.VerifyAudit(ctx) },
		"login":       func() (any, error) { return s.TakeLogin(ctx, hashOf("login")) },
		"sign-in":     func() (any, error) { return s.TakeConnectionLogin(ctx, "state", "u_1") },
	} {
		v, err := read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = v
	}
	return all
}

// asJSON is a value as it is kept in a release's everything.json.
func asJSON(t *testing.T, v any) (plain map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	check(t, err)
	check(t, json.Unmarshal(text, &plain))
	return plain
}

// has tells whether a later release has all that an earlier one had; it may know more of it.
func has(now, then any) bool {
	switch then := then.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		for name, value := range then {
			ok = ok && has(now[name], value)
		}
		return ok
	case []any:
		now, ok := now.([]any)
		ok = ok && len(now) == len(then)
		for i := 0; ok && i < len(then); i++ {
			ok = has(now[i], then[i])
		}
		return ok
	}
	return reflect.DeepEqual(now, then)
}

// readsAsThen opens a copy of a release's store and wants everything in it.
func readsAsThen(t *testing.T, folder, dsn string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "everything.json"))
	check(t, err)
	var then map[string]any
	check(t, json.Unmarshal(text, &then))
	now := asJSON(t, everything(t, openRelease(t, dsn)))
	for name, value := range then {
		if !has(now[name], value) {
			t.Errorf("%s was\n%v\nand is\n%v", name, value, now[name])
		}
	}
}

func TestStoresOfEveryReleaseAreReadWhole(t *testing.T) {
	if *release != "" {
		makeRelease(t, filepath.Join(releases, *release))
	}
	folders, err := filepath.Glob(releases + "/v*")
	check(t, err)
	if len(folders) == 0 {
		t.Fatal("there is no release")
	}
	for _, folder := range folders {
		t.Run("SQLite "+filepath.Base(folder), func(t *testing.T) { readsAsThen(t, folder, unpackRelease(t, folder)) })
		t.Run("PostgreSQL "+filepath.Base(folder), func(t *testing.T) {
			pg := testparts.NeedPostgres(t)
			dump, err := os.ReadFile(filepath.Join(folder, "postgres.sql"))
			check(t, err)
			dsn := pg.Database(t)
			_, err = rawPostgres(t, dsn+"&default_query_exec_mode=simple_protocol").Exec(string(dump))
			check(t, err)
			readsAsThen(t, folder, dsn)
		})
	}
}

// unpackRelease writes the SQLite store of a release to a folder of the test.
func unpackRelease(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "toolfit.db")
	check(t, os.Mkdir(path+"-results", 0o700))
	for from, to := range map[string]string{"toolfit.db.gz": path, "000001.seg.gz": path + "-results/000001.seg"} {
		f, err := os.Open(filepath.Join(folder, from))
		check(t, err)
		z, err := gzip.NewReader(f)
		check(t, err)
		text, err := io.ReadAll(z)
		check(t, err)
		check(t, os.WriteFile(to, text, 0o600))
		check(t, f.Close())
	}
	return path
}

// makeRelease makes the stores of a release. It overwrites none.
func makeRelease(t *testing.T, folder string) {
	t.Helper()
	pg := testparts.NeedPostgres(t)
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s := openRelease(t, path)
	fillRelease(t, s)
	check(t, s.Close())
	filled(t, rawSQLite(t, path))
	dsn := pg.Database(t)
	s = openRelease(t, dsn)
	fillRelease(t, s)
	check(t, s.Close())
	dump, err := exec.Command("pg_dump", "--inserts", "--no-owner", dsn).Output()
	check(t, err)
	check(t, os.MkdirAll(filepath.Dir(folder), 0o755))
	check(t, os.Mkdir(folder, 0o755))
	commands := regexp.MustCompile(`(?m)^\\.*\n`) // of psql
	check(t, os.WriteFile(filepath.Join(folder, "postgres.sql"), commands.ReplaceAll(dump, nil), 0o644))
	for from, to := range map[string]string{path: "toolfit.db.gz", path + "-results/000001.seg": "000001.seg.gz"} {
		text, err := os.ReadFile(from)
		check(t, err)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(text)
		check(t, z.Close())
		check(t, os.WriteFile(filepath.Join(folder, to), packed.Bytes(), 0o644))
	}
	text, err := json.MarshalIndent(everything(t, openRelease(t, unpackRelease(t, folder))), "", "\t")
	check(t, err)
	check(t, os.WriteFile(filepath.Join(folder, "everything.json"), append(text, '\n'), 0o644))
}

// filled wants something in every table.
func filled(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	check(t, err)
	var names []string
	for rows.Next() {
		var name string
		check(t, rows.Scan(&name))
		names = append(names, name)
	}
	check(t, rows.Err())
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return empty[n] }) {
		var n int
		check(t, db.QueryRow("SELECT count(*) FROM "+name).Scan(&n))
		if n == 0 {
			t.Errorf("nothing is in the table %s: add it to fillRelease", name)
		}
	}
}

func rawSQLite(t *testing.T, path string) *sql.DB { return raw(t, "file://"+path) }

// What a release's stores are made with must know every table, long before the next release.
func TestAReleaseLeavesABitOfEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s := openRelease(t, path)
	fillRelease(t, s)
	filled(t, rawSQLite(t, path))
	everything(t, s)
}
