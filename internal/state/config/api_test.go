package config

import (
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const petAPI = `
apis:
  pets:
    spec: api/pets.yaml
    base: http://127.0.0.1:9000
    tags: [pet]
    paths: ["/pets/**"]
    methods: [get, POST]
    operations: ["find*"]
    readOnly: true
    layout: layered
    auth:
      key: ${KEY}
      basic: {user: me, password: "${KEY}"}
      oauth: {clientId: c, clientSecret: s3cret-s3cret, tokenUrl: "https://example.com/token", scopes: [read]}
    headers: {X-Team: blue-team}
    variables: {region: eu}
    allow: [10.0.0.0/8, 127.0.0.1]
    timeout: 5s
    concurrency: 3
profiles:
  p: {servers: [pets]}
`

func TestAPIOfTheFile(t *testing.T) {
	cfg := parse(t, "etc/toolfit.yaml", petAPI, "KEY", "k3y-k3y-k3y")
	want := defaultServer("pets", 3)
	want.Timeout, want.Idle, want.Concurrency, want.Headers = 5*time.Second, -1, 3, map[string]string{"X-Team": "blue-team"}
	want.API = &API{
		Spec: filepath.Join("etc", "api", "pets.yaml"), Base: "http://127.0.0.1:9000", Tags: []string{"pet"}, Paths: []string{"/pets/**"},
		Methods: []string{"GET", "POST"}, Operations: []string{"find*"}, ReadOnly: true, Layout: "layered",
		Auth: map[string]Credential{
			"key": {Value: "k3y-k3y-k3y"}, "basic": {User: "me", Password: "k3y-k3y-k3y"},
			"oauth": {ClientID: "c", ClientSecret: "s3cret-s3cret", TokenURL: "https://example.com/token", Scopes: []string{"read"}},
		},
		Variables: map[string]string{"region": "eu"},
		Allow:     []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")},
	}
	if !reflect.DeepEqual(cfg.Servers[0], want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", cfg.Servers[0], cfg.Servers[0].API, want, want.API)
	}
	for _, secret := range []string{"k3y-k3y-k3y", "s3cret-s3cret"} {
		if !strings.Contains(strings.Join(cfg.Secrets, " "), secret) {
			t.Errorf("%s is not kept from logs", secret)
		}
	}
}

func TestAPIThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"apis: {a: {}}":                                       "apis.a: needs spec",
		"apis: {a: }":                                         "apis.a: needs spec",
		"apis: {a: {spec: ftp://x/y}}":                        "apis.a.spec: expected a file, or an address",
		"apis: {a: {spec: x, url: http://x}}":                 "apis.a.url: unknown key",
		"apis: {a: {spec: x, methods: [FLY]}}":                "apis.a.methods[0]: expected GET or",
		"apis: {a: {spec: x, auth: {k: {}}}}":                 "apis.a.auth.k: needs value",
		"apis: {a__b: {spec: x}}":                             "choose another name",
		"mcpServers: {a: {command: x}}\napis: {a: {spec: x}}": "apis.a: there is a server of this name already",
		"apis: {a: {spec: x}}\nmcpServers: {a: {command: x}}": "mcpServers.a: there is an API of this name already",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestAPIIsWrittenAndTakenOut(t *testing.T) {
	const before = "# mine\nmcpServers:\n  files: {command: npx}\n"
	path := file(t, "toolfit.yaml", before)
	err := AddServer(path, Server{ID: "pets", API: &API{Spec: "pets.yaml", Base: "http://127.0.0.1:9000",
		Auth: map[string]Credential{"key": {Value: "${KEY}"}}}})
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, before+"apis:\n  pets:\n    spec: pets.yaml\n    base: \"http://127.0.0.1:9000\"\n    auth:\n      key: \"${KEY}\"\n")
	for _, id := range []Server{{ID: "pets", Command: "x"}, {ID: "files", API: &API{Spec: "x"}}} {
		if err := AddServer(path, id); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s twice: %v", id.ID, err)
		}
	}
	if err := RemoveServer(path, "pets"); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, nil); err != nil {
		t.Error(err)
	}
	if err := RemoveServer(path, "pets"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestAPIThatIsAddedWhileRunning(t *testing.T) {
	a, err := ParseServer("etc/toolfit.yaml",
		[]byte(`{"name":"pets","spec":"https://example.com/openapi.json","base":"https://example.com","auth":{"key":"${KEY}"}}`), variables("KEY",
			"k3y-k3y-k3y"))
	if err != nil || a.API == nil || a.API.Auth["key"].Value != "k3y-k3y-k3y" || a.Secret {
		t.Errorf("got %+v, %v", a, err)
	}
	if a, err = ParseServer("etc/toolfit.yaml", []byte(`{"name":"pets","spec":"x.json","auth":{"key":{"value":"plain"}}}`), nil); err != nil ||
		!a.Secret {
		t.Errorf("a credential in the text is a secret: %+v, %v", a, err)
	}
}

func TestARemoteDescriptionDoesNotChooseWhereCredentialsGo(t *testing.T) {
	const remote = "apis:\n  pets:\n    spec: https://example.com/openapi.json\n"
	for _, c := range []struct{ name, text, want string }{
		{"a key needs base", remote + "    auth: {key: k3y}\n", "toolfit.yaml:2: apis.pets: needs base in addition to auth"},
		{"client credentials need tokenUrl", remote + "    base: https://example.com\n    auth: {oauth: {clientId: me, clientSecret: s3cret}}\n",
			"toolfit.yaml:2: apis.pets: auth.oauth needs tokenUrl"},
		{"both are said at once", remote + "    auth: {oauth: {clientId: me, clientSecret: s3cret}}\n", "auth.oauth needs tokenUrl"},
		{"with both it is fine", remote +
			"    base: https://example.com\n    auth: {oauth: {clientId: me, clientSecret: s3cret, tokenUrl: \"https://example.com/t\"}}\n", ""},
		{"without auth it is fine", remote, ""},
		{"a file is the operator's own word", "apis: {pets: {spec: pets.yaml, auth: {key: k3y}}}\n", ""},
	} {
		_, err := Parse("toolfit.yaml", []byte(c.text), nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
