package restapi_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestKeys(t *testing.T) {
	g := newGateway(t)
	cases := []struct {
		name, who, method, path, body string
		status                        int
		has                           string
	}{
		{"a caller sees no keys", "ann", "GET", "/keys", "", 403, `"code":"forbidden"`},
		{"a viewer sees no keys", "eye", "GET", "/keys", "", 403, `"code":"forbidden"`},
		{"a viewer makes none", "eye", "POST", "/keys", `{"name":"x"}`, 403, `"code":"forbidden"`},
		{"a caller deletes none", "ann", "DELETE", "/keys/x", "", 403, `"code":"forbidden"`},
		{"an admin sees them", "root", "GET", "/keys", "", 200, `"name":"ann","role":"caller","profile":"orders"`},
		{"no body", "root", "POST", "/keys", "", 400, `"code":"bad_request"`},
		{"no name", "root", "POST", "/keys", `{}`, 400, `"code":"bad_request"`},
		{"an unknown member", "root", "POST", "/keys", `{"name":"x","rol":"admin"}`, 400, `rol`},
		{"two objects", "root", "POST", "/keys", `{"name":"x"}{}`, 400, `"code":"bad_request"`},
		{"an unknown role", "root", "POST", "/keys", `{"name":"x","role":"king"}`, 400, `use caller, viewer or admin`},
		{"an unknown profile", "root", "POST", "/keys", `{"name":"x","profile":"nope"}`, 400, `there is no profile`},
		{"all profiles are for admins", "root", "POST", "/keys", `{"name":"x","profile":"*"}`, 400, `"code":"bad_request"`},
		{"a profile twice", "root", "POST", "/keys", `{"name":"x","profiles":["orders","orders"]}`, 400, `is named twice`},
		{"one of several profiles is unknown", "root", "POST", "/keys", `{"name":"x","profiles":["orders","nope"]}`, 400, `there is no profile`},
		{"all is not one of several", "root", "POST", "/keys", `{"name":"x","role":"admin","profiles":["*","orders"]}`, 400, `stands alone`},
		{"a profile with a comma", "root", "POST", "/keys", `{"name":"x","profiles":["orders,default"],"profile":""}`, 201, `"profiles":["orders","default"]`},
		{"profile and profiles", "root", "POST", "/keys", `{"name":"y","profile":"orders","profiles":["default"]}`, 400, `both given`},
		{"an expiry in the past", "root", "POST", "/keys", `{"name":"y","expires":"2001-01-01"}`, 400, `in the past`},
		{"an expiry that is a number", "root", "POST", "/keys", `{"name":"y","expires":90}`, 400, `"code":"bad_request"`},
		{"a caller rotates none", "ann", "POST", "/keys/x/rotate", "", 403, `"code":"forbidden"`},
		{"an unknown key is not rotated", "root", "POST", "/keys/nope/rotate", `{"overlap":"0"}`, 404, `"code":"not_found"`},
		{"a rotation with another member", "root", "POST", "/keys/nope/rotate", `{"secret":"mine"}`, 400, `secret`},
		{"a name that is taken", "root", "POST", "/keys", `{"name":"ann"}`, 409, `"code":"conflict"`},
		{"a key that does not exist", "root", "DELETE", "/keys/nope", "", 404, `"code":"not_found"`},
		{"a name is no id", "root", "DELETE", "/keys/ann", "", 404, `"code":"not_found"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, body := g.ask(t, c.who, c.method, "/api/v1"+c.path, c.body)
			if status != c.status || !strings.Contains(body, c.has) {
				t.Errorf("HTTP %d, want %d with %s: %.300s", status, c.status, c.has, body)
			}
			if c.status != 201 && strings.Contains(body, "tf_") || strings.Contains(body, "hash") {
				t.Errorf("the answer has a secret: %s", body)
			}
			checkForm(t, status, body)
		})
	}
}

// newKey makes a key over the API.
func (g *gateway) newKey(t testing.TB, who, body string) restapi.NewKey {
	t.Helper()
	status, answer := g.ask(t, who, "POST", "/api/v1/keys", body)
	var key restapi.NewKey
	if err := json.Unmarshal([]byte(answer), &key); err != nil || status != 201 || key.Text == "" {
		t.Fatalf("HTTP %d, %v: %s", status, err, answer)
	}
	g.keys[key.Name] = key.Text
	return key
}

func TestKeyWorksAtOnceAndUntilItIsDeleted(t *testing.T) {
	g := newGateway(t)
	key := g.newKey(t, "root", `{"name":"carl","profile":"orders"}`)
	if status, body := g.ask(t, "carl", "GET", "/api/v1/tools/nope", ""); status != 404 {
		t.Errorf("a new key: HTTP %d %s", status, body)
	}
	if status, body := g.ask(t, "root", "DELETE", "/api/v1/keys/"+key.ID, ""); status != 200 {
		t.Errorf("HTTP %d %s", status, body)
	}
	if status, _ := g.ask(t, "carl", "GET", "/api/v1/tools/nope", ""); status != 401 {
		t.Errorf("a deleted key: HTTP %d", status)
	}
}

func TestLastAdminKeyStays(t *testing.T) {
	g := newGateway(t)
	second := g.newKey(t, "root", `{"name":"second","role":"admin"}`)
	if second.Profile != "*" {
		t.Errorf("an admin's profile is %q", second.Profile)
	}
	root := strings.Split(g.keys["root"], "_")[1]
	if status, body := g.ask(t, "second", "DELETE", "/api/v1/keys/"+root, ""); status != 200 {
		t.Errorf("the other admin's: HTTP %d %s", status, body)
	}
	if status, body := g.ask(t, "second", "DELETE", "/api/v1/keys/"+second.ID, ""); status != 409 || !strings.Contains(body, "last admin") {
		t.Errorf("its own, the last: HTTP %d %s", status, body)
	}
}

func TestFirstKeyWarnsThatNobodyIsAdmin(t *testing.T) {
	g := openPlain(t, filepath.Join(t.TempDir(), "toolfit.yaml"), noServers, nil)
	defer g.close()
	g.want("POST", "/keys", `{"name":"ci"}`, 201, `"warning":"everybody needs a key now`)
	g.want("GET", "/keys", "", 401, `"code":"unauthorized"`)
}

func TestAnAdminOfOneProfileGivesOutNoMore(t *testing.T) {
	g := newGateway(t)
	g.newKey(t, "root", `{"name":"chief","profile":"orders","role":"admin"}`)
	g.newKey(t, "chief", `{"name":"helper","profile":"orders"}`)
	for _, body := range []string{`{"name":"x","role":"admin"}`, `{"name":"x","role":"admin","profile":"*"}`,
		`{"name":"x","profile":"default"}`, `{"name":"x","role":"viewer"}`} {
		if status, answer := g.ask(t, "chief", "POST", "/api/v1/keys", body); status != 403 {
			t.Errorf("%s: HTTP %d %s", body, status, answer)
		}
	}
	eye := strings.Split(g.keys["eye"], "_")[1]
	if status, answer := g.ask(t, "chief", "DELETE", "/api/v1/keys/"+eye, ""); status != 403 {
		t.Errorf("another profile's key was taken away: HTTP %d %s", status, answer)
	}
}

func TestARotatedKeyWorksAtOnce(t *testing.T) {
	g := newGateway(t)
	key := g.newKey(t, "root", `{"name":"carl","profiles":["orders","default"],"expires":"90d"}`)
	if key.Profile != "orders" || len(key.Profiles) != 2 || key.Expires.IsZero() {
		t.Fatalf("made %+v", key)
	}
	works := func(text string) bool {
		t.Helper()
		g.keys["it"] = text
		status, body := g.ask(t, "it", "GET", "/api/v1/tools/nope", "")
		if status != 404 && status != 401 {
			t.Fatalf("HTTP %d %s", status, body)
		}
		return status == 404
	}
	rotate := func(body string) restapi.NewKey {
		t.Helper()
		status, answer := g.ask(t, "root", "POST", "/api/v1/keys/"+key.ID+"/rotate", body)
		var next restapi.NewKey
		if err := json.Unmarshal([]byte(answer), &next); err != nil || status != 200 || next.ID != key.ID || next.Text == "" {
			t.Fatalf("HTTP %d, %v: %s", status, err, answer)
		}
		newSchemas(t).check(t, "NewKey", answer)
		return next
	}
	second := rotate("")
	if second.OldUntil.IsZero() || !second.Expires.Equal(key.Expires) || !works(key.Text) || !works(second.Text) {
		t.Errorf("the first rotation gave %+v", second.Key)
	}
	third := rotate(`{"expires":"never"}`)
	if !third.Expires.IsZero() || works(key.Text) || !works(second.Text) || !works(third.Text) {
		t.Errorf("the second gave %+v", third.Key)
	}
	fourth := rotate(`{"overlap":"0"}`)
	if !fourth.OldUntil.IsZero() || works(third.Text) || !works(fourth.Text) {
		t.Errorf("the third gave %+v", fourth.Key)
	}
	_, list := g.ask(t, "root", "GET", "/api/v1/keys", "")
	newSchemas(t).check(t, "KeyList", list)
}

func TestAnExpiredAdminKeyIsNoAdministrator(t *testing.T) {
	g := newGateway(t)
	second := g.newKey(t, "root", `{"name":"second","role":"admin","expires":"1s"}`)
	time.Sleep(time.Until(second.Expires))
	root := strings.Split(g.keys["root"], "_")[1]
	if status, body := g.ask(t, "root", "DELETE", "/api/v1/keys/"+root, ""); status != 409 || !strings.Contains(body, "last admin") {
		t.Errorf("HTTP %d %s", status, body)
	}
	if status, body := g.ask(t, "second", "GET", "/api/v1/keys", ""); status != 401 || !strings.Contains(body, "has expired") {
		t.Errorf("HTTP %d %s", status, body)
	}
}

func TestAnAdminOfSomeProfilesRotatesAndDeletesNoMore(t *testing.T) {
	g := newGateway(t)
	g.newKey(t, "root", `{"name":"chief","profile":"orders","role":"admin"}`)
	both := g.newKey(t, "root", `{"name":"both","profiles":["orders","default"]}`)
	own := g.newKey(t, "chief", `{"name":"own","profiles":["orders"]}`)
	root := strings.Split(g.keys["root"], "_")[1]
	for _, id := range []string{both.ID, root} {
		for method, path := range map[string]string{"DELETE": id, "POST": id + "/rotate"} {
			if status, body := g.ask(t, "chief", method, "/api/v1/keys/"+path, ""); status != 403 || strings.Contains(body, "tf_") {
				t.Errorf("%s %s: HTTP %d %s", method, path, status, body)
			}
		}
	}
	if status, body := g.ask(t, "chief", "POST", "/api/v1/keys", `{"name":"x","profiles":["orders","default"]}`); status != 403 {
		t.Errorf("HTTP %d %s", status, body)
	}
	if status, body := g.ask(t, "chief", "POST", "/api/v1/keys/"+own.ID+"/rotate", ""); status != 200 {
		t.Errorf("its own: HTTP %d %s", status, body)
	}
}
