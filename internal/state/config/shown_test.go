package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

func unredacted(s string) string { return s }

func TestSettingsAreShownWithoutSecrets(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"what is run stays", `{"command":"npx","args":["-y","@scope/pkg@1.2","./data"],"cwd":"/srv"}`,
			`{"command":"npx","args":["-y","@scope/pkg@1.2","./data"],"cwd":"/srv"}`},
		{"values of variables are all secret, numbers too", `{"env":{"MODE":"fast","PORT":8080,"EMPTY":""}}`, `{"env":{"MODE":"•••","PORT":"•••","EMPTY":""}}`},
		{"references are shown, what is around them is not", `{"env":{"A":"${TOKEN}","B":"Bearer ${T}","C":"abc${T}def","D":"${file:a/b}"}}`,
			`{"env":{"A":"${TOKEN}","B":"Bearer ${T}","C":"•••${T}•••","D":"${file:a/b}"}}`},
		{"the value that a reference falls back to is a secret", `{"env":{"A":"${T:-hunter2}"},"args":["--token=${T:-hunter2}"]}`,
			`{"env":{"A":"${T:-•••}"},"args":["--token=${T:-•••}"]}`},
		{"what only looks like a reference is none", `{"env":{"A":"$${hunter2}","B":"${hunter2!}"}}`, `{"env":{"A":"•••","B":"•••"}}`},
		{"headers keep the word for their kind", `{"headers":{"Authorization":"Bearer abc","X":"1"}}`, `{"headers":{"Authorization":"Bearer •••","X":"•••"}}`},
		{"arguments by their name", `{"args":["--api-key","hunter2","--token=hunter2","TOKEN=hunter2","--env=TOKEN=hunter2","-H","Authorization: Bearer hunter2","--password","my:hunter2","--passphrase","hunter2"]}`,
			`{"args":["--api-key","•••","--token=•••","TOKEN=•••","--env=TOKEN=•••","-H","Authorization: Bearer •••","--password","•••","--passphrase","•••"]}`},
		{"arguments by their look", `{"args":["ghp_abcdefghij0123456789","postgres://u:pw@db/x"]}`, `{"args":["•••","postgres://u:•••@db/x"]}`},
		{"within an argument", `{"args":["Server=db;User Id=sa;Password=hunter2;Encrypt=true","--config={\"apiKey\": \"hunter2\",\"mode\":\"fast\"}","curl -H \"Authorization\":\"Bearer hunter2\"","A_TOKEN=hunter2 npx x"]}`,
			`{"args":["Server=db;User Id=sa;Password=•••;Encrypt=true","--config={\"apiKey\": \"•••\",\"mode\":\"fast\"}","curl -H \"Authorization\":\"Bearer •••\"","A_TOKEN=•••"]}`},
		{"of a command within an argument", `{"args":["-c","npx x --token hunter2 --api-key 'hunter2' --mode fast --password --token X_TOKEN=hunter2"]}`,
			`{"args":["-c","npx x --token ••• --api-key '•••' --mode fast --password --token •••"]}`},
		{"addresses", `{"url":"https://u:pw@h/mcp?key=abc&mode=fast&x=a8f3k2j9d7s6"}`, `{"url":"https://u:•••@h/mcp?key=•••&mode=fast&x=•••"}`},
		{"a key in a path", `{"url":"https://h/s/abcdefghij0123456789ab/mcp"}`, `{"url":"https://h/s/•••/mcp"}`},
		{"credentials", `{"auth":{"key":"k","basic":{"user":"ann","password":"pw"},"oauth":{"clientId":"c","clientSecret":"s","tokenUrl":"https://t/x"}}}`,
			`{"auth":{"key":"•••","basic":{"user":"ann","password":"•••"},"oauth":{"clientId":"c","clientSecret":"•••","tokenUrl":"https://t/x"}}}`},
		{"of OAuth", `{"oauth":{"as":"client","clientId":"c","privateKey":"k"}}`, `{"oauth":{"as":"client","clientId":"c","privateKey":"•••"}}`},
		{"a description", `{"spec":"` + InlineSpec([]byte("openapi: 3.1.0")) + `"}`, `{"spec":"data:;base64,•••"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Shown([]byte(tt.text), unredacted)
			if err != nil || strings.ReplaceAll(string(got), `\u0026`, "&") != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			back, err := Restored(got, []byte(tt.text), unredacted)
			if err != nil || strings.ReplaceAll(string(back), `\u0026`, "&") != tt.text {
				t.Errorf("came back as %s, %v", back, err)
			}
		})
	}
}

func TestWhatIsMaskedStaysAsItIs(t *testing.T) {
	const old = `{"name":"a","url":"https://h/mcp","headers":{"Authorization":"Bearer abc","X-Team":"t1"},"timeout":"1m"}`
	tests := []struct{ name, text, want string }{
		{"another setting changes", `{"url":"https://h/other","headers":{"Authorization":"Bearer •••","X-Team":"•••"},"timeout":"2m"}`,
			`{"url":"https://h/other","headers":{"Authorization":"Bearer abc","X-Team":"t1"},"timeout":"2m"}`},
		{"one is replaced, one removed", `{"url":"https://h/mcp","headers":{"Authorization":"Bearer ${T}"}}`, `{"url":"https://h/mcp","headers":{"Authorization":"Bearer ${T}"}}`},
		{"a mask of nothing", `{"url":"https://h/mcp","headers":{"Other":"•••"}}`, "headers.Other: has ••• in it"},
		{"a mask within more", `{"url":"https://h/mcp","headers":{"Authorization":"Bearer •••x"}}`, "headers.Authorization: has ••• in it"},
		{"a secret is not sent to another host", `{"url":"https://evil/mcp","headers":{"Authorization":"Bearer •••"}}`, "headers.Authorization: was for another host"},
		{"nor by another proxy", `{"url":"https://h/mcp","proxy":"http://evil","headers":{"Authorization":"Bearer •••"}}`, "headers.Authorization: was for another host"},
		{"nor to a host that is not known yet", `{"url":"${URL}","headers":{"Authorization":"Bearer •••"}}`, "headers.Authorization: was for another host"},
		{"another host with a new one", `{"url":"https://new/mcp","headers":{"Authorization":"Bearer def"}}`, `{"url":"https://new/mcp","headers":{"Authorization":"Bearer def"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Restored([]byte(tt.text), []byte(old), unredacted)
			if said := fmt.Sprint(string(got), err); !strings.Contains(said, tt.want) {
				t.Errorf("got %s\nwant %s", said, tt.want)
			}
		})
	}
	const args = `{"command":"x","args":["--token","one1","--token","two2","-v"]}`
	got, err := Restored([]byte(`{"command":"x","args":["-q","--token","•••","--token","•••"]}`), []byte(args), unredacted)
	if err != nil || string(got) != `{"command":"x","args":["-q","--token","one1","--token","two2"]}` {
		t.Errorf("of arguments in another place: %s, %v", got, err)
	}
	const named = `{"command":"x","args":["--token","one1","--password","two2"]}`
	got, err = Restored([]byte(`{"command":"x","args":["--password","•••"]}`), []byte(named), unredacted)
	if err != nil || string(got) != `{"command":"x","args":["--password","two2"]}` {
		t.Errorf("of arguments of which the first is gone: %s, %v", got, err)
	}
	_, err = Restored([]byte(`{"command":"x","args":["--pass","•••","--token","•••"]}`), []byte(named), unredacted)
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "args[1]") {
		t.Errorf("of an argument with another name: %v", err)
	}
	const auth = `{"spec":"a.json","base":"https://h","auth":{"o":{"clientId":"c","clientSecret":"s","tokenUrl":"https://t/x"}}}`
	_, err = Restored([]byte(strings.Replace(strings.Replace(auth, "https://t/x", "https://evil/x", 1), `:"s"`, `:"•••"`, 1)), []byte(auth), unredacted)
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "auth.o.clientSecret") {
		t.Errorf("a secret goes to another authorization server: %v", err)
	}
	_, err = Restored([]byte(`{"spec":"a.json","auth":{"o":{"clientId":"c","clientSecret":"•••","tokenUrl":"https://t/x"}}}`), []byte(auth), unredacted)
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "auth.o.clientSecret") {
		t.Errorf("a secret goes where the description says: %v", err)
	}
}

func TestAServerOfTheFileIsShownWithItsLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	text := "mcpServers:\n  # the token is hunter2\n  a:\n    command: npx # hunter2\n    env:\n      TOKEN: hunter2\n      OTHER: ${OTHER}\n  b: {url: 'https://h/mcp'}\napis:\n  c:\n    spec: c.json\n    auth: {key: hunter2}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"a": "3 a:|4   command: npx|5   env:|6     TOKEN: \"•••\"|7     OTHER: \"${OTHER}\"",
		"b": `8 b: {url: "https://h/mcp"}`,
		"c": `10 c:|11   spec: c.json|12   auth: {key: "•••"}`,
	} {
		shown, lines, err := ShownInFile(path, tool.ServerID(id), unredacted)
		var got []string
		for _, l := range lines {
			got = append(got, fmt.Sprint(l.Number, " ", l.Text))
		}
		if err != nil || strings.Join(got, "|") != want || strings.Contains(string(shown), "hunter2") {
			t.Errorf("%s: %v %s\n got %s\nwant %s", id, err, shown, strings.Join(got, "|"), want)
		}
	}
	if _, _, err := ShownInFile(path, "d", unredacted); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestSwitchedAndNamed(t *testing.T) {
	off, err := Switched([]byte(`{"name":"a","disabled":false,"command":"x"}`), false)
	if err != nil || string(off) != `{"name":"a","command":"x","disabled":true}` {
		t.Errorf("off: %s, %v", off, err)
	}
	on, err := Switched(off, true)
	if err != nil || string(on) != `{"name":"a","command":"x"}` {
		t.Errorf("on: %s, %v", on, err)
	}
	if named, err := Named(on, "b"); err != nil || string(named) != `{"name":"b","command":"x"}` {
		t.Errorf("named: %s, %v", named, err)
	}
}

// FuzzShown holds that what is shown comes back as it was, and that values of variables are not shown.
func FuzzShown(f *testing.F) {
	f.Add("TOKEN", "abc${X}", "--token=x")
	f.Add("a", "${A:-b}$${c}", "https://u:p@h/?a=b#c")
	f.Fuzz(func(t *testing.T, name, value, arg string) {
		all := strings.Join([]string{name, value, arg}, " ")
		if strings.Contains(all, Mask) || strings.ContainsRune(all, utf8.RuneError) { // which is written in two ways
			return
		}
		s := Server{ID: "a", Command: "x", Args: []string{arg, value}, Env: map[string]string{name: value}}
		text, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		shown, err := Shown(text, unredacted)
		if err != nil {
			return // deeper or other than a server can be
		}
		if back, err := Restored(shown, text, unredacted); err != nil || string(back) != string(text) {
			t.Fatalf("%s\nwas shown as %s\nand came back as %s, %v", text, shown, back, err)
		}
	})
}
