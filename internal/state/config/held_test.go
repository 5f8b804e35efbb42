package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
)

func TestSecretsAreFoundInTheTextOfAServer(t *testing.T) {
	s := Server{
		ID:      "x",
		Command: "docker",
		Args: []string{
			"run", "-e", "GITHUB_TOKEN=ghp_0123456789abcdefghij", "--api-key", "hunter22", "--header", "Authorization: Bearer abcdefgh",
			"--token=${TOKEN}", "postgres://me:pa55w0rd@db/x?sslmode=disable", "@scope/server-github@2025.4.8", "--auth-file", "/etc/key",
			"ghcr.io/x/y@sha256:0123456789abcdef0123456789abcdef", "--max-tokens", "4096", "-y", "sk-proj-0123456789",
		},
		Env: map[string]string{
			"PASSWORD": "correct horse", "LOG_LEVEL": "debug", "USE_AUTH": "true", "TOKEN_FILE": "/run/secret",
			"MODEL":     "claude-3-5-sonnet-20241022",
			"SOMETHING": "a1b2c3d4e5f6a7b8c9d0e1f2", "EMPTY_TOKEN": "", "FILLED": "${SECRET_TOKEN}",
		},
		Headers: map[string]string{"Accept": "application/json", "X-Api-Key": "abcd"},
		URL:     "https://token0123456789abcdefghij@example.com/mcp?api_key=k1&key=abcd%20e&page=2#top",
	}
	var got []string
	for _, h := range s.InlineSecrets() {
		got = append(got, h.Field+" "+h.Name+" "+h.Value)
	}
	slices.Sort(got)
	want := []string{
		"args[2] GITHUB_TOKEN ghp_0123456789abcdefghij", "args[4] api-key hunter22", "args[6] Authorization abcdefgh",
		"args[8] password pa55w0rd",
		"args[16] y sk-proj-0123456789", "env.PASSWORD PASSWORD correct horse", "env.SOMETHING SOMETHING a1b2c3d4e5f6a7b8c9d0e1f2",
		"headers.X-Api-Key X-Api-Key abcd", "url  token0123456789abcdefghij", "url key abcd%20e",
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	moved := s.ReplaceSecrets(func(h InlineSecret) string { return "${" + h.Name + "}" })
	for _, want := range []string{"GITHUB_TOKEN=${GITHUB_TOKEN}", "${api-key}", "Authorization: Bearer ${Authorization}",
		"postgres://me:${password}@db/x?sslmode=disable"} {
		if !slices.Contains(moved.Args, want) {
			t.Errorf("args are %q, want %q among them", moved.Args, want)
		}
	}
	if want := "https://${}@example.com/mcp?api_key=k1&key=${key}&page=2#top"; moved.URL != want {
		t.Errorf("url is %s, want %s", moved.URL, want)
	}
	if s.Env["PASSWORD"] != "correct horse" || s.Args[4] != "hunter22" {
		t.Error("the server itself was changed")
	}
}

// FuzzRefer holds that a reference stands for exactly what it replaces.
func FuzzRefer(f *testing.F) {
	for _, text := range []string{"Bearer abcdefgh", "https://a:bcde@h/?key=fghi&x", "://@?=&#", "--token=abcdefgh", "x: $${y}zz",
		"a://b:c@d@e:f?token=", "ghp_0123456789abcdef", "x$$$${y}zz"} {
		f.Add("TOKEN", text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		s := Server{ID: "x", Args: []string{text, name, text}, Env: map[string]string{name: text}, Headers: map[string]string{name: text},
			URL: text, Proxy: text}
		was := map[string]string{}
		moved := s.ReplaceSecrets(func(h InlineSecret) string {
			ref := "\x00" + h.Field + "/" + string(rune('0'+len(was))) + "\x00"
			was[ref] = h.Value
			return ref
		})
		back := func(got, want string) {
			for ref, value := range was {
				got = strings.ReplaceAll(got, ref, strings.ReplaceAll(value, "${", "$${")) // as a file writes it
			}
			if want = strings.ReplaceAll(want, "$${", "${"); strings.ReplaceAll(got, "$${", "${") != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if strings.Contains(name+text, "\x00") {
			return
		}
		for i := range s.Args {
			back(moved.Args[i], s.Args[i])
		}
		back(moved.Env[name], text)
		back(moved.Headers[name], text)
		back(moved.URL, text)
		back(moved.Proxy, text)
	})
}

func TestAFileWithSecretsIsItsUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	open := Server{ID: "a", Command: "x", Env: map[string]string{"LOG_LEVEL": "debug", "TOKEN": "${TOKEN}"}}
	for name, c := range map[string]struct {
		s    Server
		want os.FileMode
	}{
		"no secret":  {open, 0o644},
		"a variable": {Server{ID: "b", Command: "x", Env: map[string]string{"TOKEN": "abcdefgh"}}, 0o600},
		"a header": {Server{ID: "b", URL: "https://example.com", Headers: map[string]string{"Authorization": "Bearer abcdefgh"}},
			0o600},
		"a credential of API": {Server{ID: "b", API: &API{Spec: "x.yaml", Auth: map[string]Credential{"k": {Value: "abcdefgh"}}}}, 0o600},
	} {
		for _, there := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "toolfit.yaml")
			if there {
				if err := os.WriteFile(path, []byte("listen: 127.0.0.1:1\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := AddServer(path, c.s); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != c.want {
				t.Errorf("%s, file there %v: got %v and %v, want %v", name, there, info.Mode(), err, c.want)
			}
		}
	}
}

func TestAServerWhoseSecretsMovedIsTheSameServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	s := Server{ID: tool.ServerID("a"), Command: "x", Args: []string{"--token=abcdefgh"}, Env: map[string]string{"TOKEN": "s3cret\nlines",
		"B": "b"}}
	if err := AddServer(path, s.ReplaceSecrets(func(h InlineSecret) string { return "${file:secrets/" + h.Name + "}" })); err != nil {
		t.Fatal(err)
	}
	if !sameInFile(t, path, s) {
		t.Error("it is said to be another")
	}
	s.Env["B"] = "c"
	if sameInFile(t, path, s) {
		t.Error("another is said to be the same")
	}
}
