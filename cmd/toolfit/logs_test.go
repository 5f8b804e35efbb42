//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestJSONLogsTellStartRequestsRefusalsAndStopWithoutSecrets(t *testing.T) {
	folder := t.TempDir()
	config := filepath.Join(folder, "toolfit.yaml")
	if err := os.WriteFile(config, []byte("mcpServers: {shop: {builtin: demo-shop}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "TOOLFIT_LOG=json", "HOME="+folder, "XDG_STATE_HOME="+folder)
	made := &exec.Cmd{Path: os.Args[0], Args: []string{"toolfit", "keys", "create", "laptop", "-c", config}, Env: env}
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gateway := &exec.Cmd{Path: os.Args[0], Env: env,
		Args: []string{"toolfit", "serve", "-c", config, "--listen", "127.0.0.1:0", "--access-log", "--debug"}}
	said, err := gateway.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	defer gateway.Process.Kill()
	const wrong = "tf_abcdefgh_wrongwrongwrongwrongwrongwrongwrongwrong"
	seen := map[string]map[string]any{}
	stopping := false
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.Contains(lines.Text(), "wrongwrong") || strings.Contains(lines.Text(), "hunter2") {
			t.Errorf("a secret is in the log: %s", lines.Text())
		}
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("not JSON: %s", lines.Text())
		}
		name, _ := line["msg"].(string)
		seen[name] = line
		switch name {
		case "started":
			req, _ := http.NewRequest(http.MethodGet, "http://"+line["address"].(string)+"/api/v1/tools?x=hunter2", nil)
			req.Header.Set("Authorization", "Bearer "+wrong)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		case "request":
			if line["remote"] == "127.0.0.1" { // then a command, over the socket
				asked := &exec.Cmd{Path: os.Args[0], Args: []string{"toolfit", "servers", "-c", config}, Env: env}
				if out, err := asked.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				seen["refused request"] = line
				continue
			}
			if stopping { // the command may ask more than once, and a second signal ends the gateway at once
				continue
			}
			stopping = true
			if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	gateway.Wait()
	for name, want := range map[string]map[string]any{
		"started":         {"store": "sqlite", "servers": 1.0},
		"caller refused":  {"reason": "unknown key", "entrance": "rest", "remote": "127.0.0.1"},
		"refused request": {"path": "/api/v1/tools", "status": 401.0, "method": "GET"},
		"request":         {"remote": "socket", "key": "local"},
		"stopped":         {"reason": "signal"},
	} {
		for key, value := range want {
			if seen[name][key] != value {
				t.Errorf("%s: %s is %v, want %v", name, key, seen[name][key], value)
			}
		}
	}
}
