package clientfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/clients"
)

var (
	byURL     = []clients.Entry{{Key: "type", Value: "http"}, {Key: "url", Value: "http://127.0.0.1:8420/mcp"}}
	byCommand = []clients.Entry{{Key: "command", Value: "/opt/toolfit"}, {Key: "args", Value: []string{"stdio"}}}
)

func TestPutEntryLeavesAllElseAsItIs(t *testing.T) {
	const entry = "\"toolfit\": {\n      \"type\": \"http\",\n      \"url\": \"http://127.0.0.1:8420/mcp\"\n    }"
	tests := []struct{ name, path, key, before, after string }{
		{"a missing file is made", "mcp.json", "mcpServers", "", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		{"a file without servers", "mcp.json", "servers", "{\n  \"a\": 1\n}\n",
			"{\n  \"a\": 1,\n  \"servers\": {\n    " + entry + "\n  }\n}\n"},
		{"comments, odd spaces and a trailing comma stay", "settings.json", "context_servers",
			"// mine\n{ \"theme\" :\"x\",\n  \"context_servers\": {\n    \"a\": {\"command\":\"x\"}, // why\n  },\n}\n",
			"// mine\n{ \"theme\" :\"x\",\n  \"context_servers\": {\n    \"a\": {\"command\":\"x\"},\n    " + entry + ", // why\n  },\n}\n"},
		{"big numbers and escapes of others stay", "mcp.json", "mcpServers",
			"{\"n\": 12345678901234567890.10, \"s\": \"\\u00e9\\/\", \"mcpServers\": {}}",
			"{\"n\": 12345678901234567890.10, \"s\": \"\\u00e9\\/\", \"mcpServers\": {\n  \"toolfit\": {\n    \"type\": \"http\",\n    \"url\": " +
				"\"http://127.0.0.1:8420/mcp\"\n  }\n}}"},
		{"mixed line endings and a byte order mark stay", "mcp.json", "mcpServers",
			"\ufeff" + "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\n  }\r\n}\r\n",
			"\ufeff" + "{\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n    " + strings.ReplaceAll(entry, "\n", "\r\n") + "\n  }\r\n}\r\n"},
		{"an old entry gives way, the client's own keys stay", "mcp.json", "mcpServers",
			"{\n  \"mcpServers\": {\n    \"toolfit\": {\"command\": \"old\", \"alwaysAllow\": [\"a\"], \"x\": null},\n    \"b\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"toolfit\": {\n      \"type\": \"http\",\n      \"url\": \"http://127.0.0.1:8420/mcp\",\n      " +
				"\"alwaysAllow\": [\"a\"],\n      \"x\": null\n    },\n    \"b\": {}\n  }\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, tt.path, tt.before)
			edit, err := putIn(path, tt.key, "toolfit", byURL)
			if err != nil {
				t.Fatal(err)
			}
			if string(edit.New) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", edit.New, tt.after)
			}
			if _, err := edit.Write(time.Now()); err != nil {
				t.Fatal(err)
			}
			again, err := putIn(path, tt.key, "toolfit", byURL)
			if err != nil || again.Changed() {
				t.Errorf("a second time changes it to\n%s, %v", again.New, err)
			}
		})
	}
}

const codexFile = `# mine
model = "o3" # the best
notify = ["a", 'b\c', # list
]
when = 2026-01-02 03:04:05Z

[mcp_servers.files]
command = "npx"
args = ["-y", "@scope/files"]
env = { "A B" = "1", C = "2" }
startup_timeout_sec = 20
tool_timeout_sec = 1_0.0

# the cloud
[mcp_servers."云 1"]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-A = "1" }
enabled = false
[mcp_servers."云 1".env_http_headers]
X-B = "B_VAR"

[[skills]]
text = """
one \
   two "quoted" \u00e9
"""
[[skills]]
text = '''raw \n'''
[profiles.x]
a.b = 1
`

func TestPutEntryInTOML(t *testing.T) {
	const table = "[mcp_servers.toolfit]\ncommand = \"/opt/toolfit\"\nargs = [\"stdio\"]"
	tests := []struct{ name, before, after string }{
		{"a missing file is made", "", table + "\n"},
		{"it goes to the end", codexFile, codexFile + "\n" + table + "\n"},
		{"a last line without an end", "a = 1", "a = 1\n\n" + table + "\n"},
		{"Windows line endings", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n") + "\r\n"},
		{"an old table gives way where it stands", "[mcp_servers.toolfit] # ours\nurl = \"http://old\"\nenabled = true # on\n\n# next\n[b]\n",
			table + "\nenabled = true # on\n\n# next\n[b]\n"},
		{"tables inside it stay", "[mcp_servers.toolfit]\nurl = \"x\"\n[mcp_servers.toolfit.tools.a]\nmode = \"approve\"\n",
			table + "\n[mcp_servers.toolfit.tools.a]\nmode = \"approve\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, "config.toml", tt.before)
			edit, err := putIn(path, codexServers, "toolfit", byCommand)
			if err != nil {
				t.Fatal(err)
			}
			if string(edit.New) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", edit.New, tt.after)
			}
			if _, err := edit.Write(time.Now()); err != nil {
				t.Fatal(err)
			}
			if again, err := putIn(path, codexServers, "toolfit", byCommand); err != nil || again.Changed() {
				t.Errorf("a second time changes it to\n%s, %v", again.New, err)
			}
		})
	}
}

func TestCutEntryTakesOutWhatPutEntryPutIn(t *testing.T) {
	for path, before := range map[string]string{
		"mcp.json":      "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"x\": 1}\n  },\n  \"z\": 1\n}\n",
		"empty.json":    "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}",
		"config.toml":   codexFile,
		"windows.toml":  strings.ReplaceAll(codexFile, "\n", "\r\n"),
		"windows.json":  "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
		"settings.json": "{ \"mcpServers\": {\"a\": {}} }",
	} {
		t.Run(path, func(t *testing.T) {
			path := writeFile(t, path, before)
			key := "mcpServers"
			if isTOML(path) {
				key = codexServers
			}
			for _, step := range []func() (Edit, error){
				func() (Edit, error) { return putIn(path, key, "toolfit", byURL) },
				func() (Edit, error) { return removeFrom(path, key, "toolfit") },
			} {
				edit, err := step()
				if err != nil || !edit.Changed() {
					t.Fatalf("changed %v, %v", edit.Changed(), err)
				}
				if _, err := edit.Write(time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if got, _ := os.ReadFile(path); string(got) != before {
				t.Errorf("got\n%s\nwant\n%s", got, before)
			}
			if edit, err := removeFrom(path, key, "toolfit"); err != nil || edit.Changed() {
				t.Errorf("a second time: changed %v, %v", edit.Changed(), err)
			}
		})
	}
	if edit, err := removeFrom(filepath.Join(t.TempDir(), "none.json"), "mcpServers", "toolfit"); err != nil || edit.Changed() {
		t.Errorf("a missing file: changed %v, %v", edit.Changed(), err)
	}
}

func TestClientFilesThatCannotBeEditedSafelyAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ path, text string }{
		"broken JSON":                   {"a.json", "{\"mcpServers\": "},
		"a list at the top":             {"a.json", "[]"},
		"servers that are a list":       {"a.json", "{\"mcpServers\": []}"},
		"servers that are null":         {"a.json", "{\"mcpServers\": null}"},
		"broken TOML":                   {"a.toml", "a = \n"},
		"an entry without a table":      {"a.toml", "[mcp_servers]\ntoolfit = { url = \"x\" }\n"},
		"an entry of dotted keys":       {"a.toml", "mcp_servers.toolfit.url = \"x\"\n"},
		"a way in a table of its own":   {"a.toml", "[mcp_servers.toolfit]\nurl = \"x\"\n[mcp_servers.toolfit.http_headers]\nA = \"b\"\n"},
		"servers that are no table":     {"a.toml", "mcp_servers = 1\n"},
		"a table that is given twice":   {"a.toml", "[a]\n[a]\n"},
		"a value over an inline table":  {"a.toml", "a = { b = 1 }\n[a.c]\n"},
		"text without its closing mark": {"a.toml", "a = \"b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, c.path, c.text)
			key := "mcpServers"
			if isTOML(path) {
				key = codexServers
			}
			if edit, err := putIn(path, key, "toolfit", byURL); !fault.Is(err, fault.BadConfig) {
				t.Errorf("got %q, %v", edit.New, err)
			}
		})
	}
}

func TestTheBackupIsTheOldFile(t *testing.T) {
	path := writeFile(t, "mcp.json", "{}\n")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := path + ".toolfit-backup-20260102-030405"
	for i, suffix := range []string{"", "-2"} {
		before, _ := os.ReadFile(path)
		edit, err := putIn(path, "mcpServers", []string{"a", "b"}[i], byURL)
		if err != nil {
			t.Fatal(err)
		}
		backup, err := edit.Write(now)
		if err != nil || backup != want+suffix {
			t.Fatalf("backup %s, %v", backup, err)
		}
		wantFile(t, backup, string(before))
		if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the backup's mode is %v, %v", info.Mode(), err)
		}
	}
}

func TestReadClientReadsCodex(t *testing.T) {
	in, err := Read(writeFile(t, "config.toml", codexFile))
	if err != nil || len(in.Servers) != 2 {
		t.Fatalf("got %+v, %q, %v", in.Servers, in.Notes, err)
	}
	files, cloud := in.Servers[0], in.Servers[1]
	if files.ID != "files" || files.Command != "npx" || len(files.Args) != 2 || files.Env["A B"] != "1" || files.Start != 20*time.Second ||
		files.Timeout != 10*time.Second {
		t.Errorf("files: %+v", files)
	}
	if cloud.ID != "云-1" || cloud.URL != "https://example.com/mcp" || !cloud.Disabled ||
		cloud.Headers["Authorization"] != "Bearer ${TOKEN}" || cloud.Headers["X-A"] != "1" || cloud.Headers["X-B"] != "${B_VAR}" {
		t.Errorf("cloud: %+v", cloud)
	}
}

func TestReadTOML(t *testing.T) {
	root, _, found := readTOML(codexFile)
	if len(found) > 0 {
		t.Fatal(found)
	}
	skills := root.Find("skills")
	if len(skills.Items) != 2 || skills.Items[0].Find("text").Text != "one two \"quoted\" é\n" ||
		skills.Items[1].Find("text").Text != `raw \n` {
		t.Errorf("skills: %+v", skills)
	}
	if got := root.Find("notify"); len(got.Items) != 2 || got.Items[1].Text != `b\c` {
		t.Errorf("notify: %+v", got)
	}
	if got := root.Find("profiles", "x", "a", "b"); got == nil || got.Text != "1" {
		t.Errorf("dotted: %+v", got)
	}
	for text, line := range map[string]int{
		"a = b\n": 1, "\n\na = 1 2\n": 3, "a\n": 1, "[a\n": 1, "[[a]\n": 1, "a = [1\nb = 2\n": 2, "a = \"\\q\"\n": 1, "a = 1\na = 2\n": 2,
		"a = {b = 1\n": 2, "= 1\n": 1, "a = '''x\n\n": 3, "a = tru\n": 1,
	} {
		if root, _, found := readTOML(text); root != nil || len(found) != 1 || found[0].Line != line {
			t.Errorf("%q: %+v, want a problem in line %d", text, found, line)
		}
	}
}

// FuzzTOML holds that any text is read or refused with a line, and that what is put in can be taken out.
func FuzzTOML(f *testing.F) {
	for _, text := range []string{codexFile, "a.b.c = [{}, [1,],]\n", "[[a]]\n[a.b]\n[[a]]\n", "a='''\n'''''\n", "\"\\u00e9\"=1e5#\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, found := parse("a.toml", []byte(text))
		if len(found) > 0 || src == nil {
			return
		}
		edited, ok := src.putTOML(codexServers, "toolfit", byURL)
		if !ok || src.Root.Find(codexServers).Find("toolfit") != nil {
			return
		}
		after, found := parse("a.toml", []byte(edited))
		if len(found) > 0 {
			return // a server that is no table, which editClient refuses
		}
		if n := after.Root.Find(codexServers).Find("toolfit").Find("url"); n == nil || n.Text != "http://127.0.0.1:8420/mcp" {
			t.Fatalf("%q became %q", text, edited)
		}
		if back, ok := after.cutTOML(codexServers, "toolfit"); !ok || strings.TrimRight(back, "\n") != strings.TrimRight(src.Text, "\n") {
			t.Fatalf("%q became %q", src.Text, back)
		}
	})
}

func TestTheFirstTableOfAnOtherwiseScatteredSectionCanGo(t *testing.T) {
	edit := Edit{Path: "config.toml", New: []byte("[mcp_servers.a]\nurl = \"x\"\n\n[b]\nc = 1\n\n[mcp_servers.d]\nurl = \"y\"\n")}
	after, err := edit.Remove([]string{codexServers}, "a")
	if want := "\n[b]\nc = 1\n\n[mcp_servers.d]\nurl = \"y\"\n"; err != nil || string(after.New) != want {
		t.Errorf("got %q, %v, want %q", after.New, err, want)
	}
}

func putIn(path, key, id string, entries []clients.Entry) (Edit, error) {
	edit, err := Open(path)
	if err != nil {
		return edit, err
	}
	return edit.Put([]string{key}, id, entries)
}

func removeFrom(path, key, id string) (Edit, error) {
	edit, err := Open(path)
	if err != nil {
		return edit, err
	}
	return edit.Remove([]string{key}, id)
}
