package taskserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/taskserver"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// scenarios are those of the suite about tasks, with the number of their checks.
var scenarios = map[string]int{
	"tasks-lifecycle": 9, "tasks-capability-negotiation": 5, "tasks-wire-fields": 4, "tasks-request-state-removal": 3,
	"tasks-mrtr-input": 4, "tasks-request-headers": 5, "tasks-dispatch-and-envelope": 9, "tasks-required-task-error": 3,
	"tasks-mrtr-composition": 2, "tasks-status-notifications": 0, // the suite skips the only one
}

func TestEveryCheckOfTheOfficialSuitePasses(t *testing.T) {
	node := testparts.Need(t)
	server, err := taskserver.New()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	slots := make(chan struct{}, 2)
	t.Run("scenarios", func(t *testing.T) {
		for scenario, checks := range scenarios {
			t.Run(scenario, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				results := t.TempDir()
				command := node.Script("@modelcontextprotocol/conformance/dist/index.js", "server", "--url", web.URL,
					"--scenario", scenario, "-o", results)
				out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
				if passed := count(t, results); err != nil || passed != checks {
					t.Errorf("%d of %d checks passed, %v\n%s", passed, checks, err, out)
				}
			})
		}
	})
}

// count returns how many checks passed; any other than a skipped one is an error.
func count(t *testing.T, results string) (passed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("results: %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "SKIPPED":
		default:
			t.Errorf("%s: %s %s", c.ID, c.Status, c.ErrorMessage)
		}
	}
	return passed
}

func TestRealClientsRunTasks(t *testing.T) {
	node := testparts.Need(t)
	node.NeedPackage(t, "@modelcontextprotocol/ext-tasks")
	server, err := taskserver.New()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	plain := `["slow_compute",{"seconds":0.1,"label":"x"}],["test_tool_with_task",{}],["failing_job",{}],["protocol_error_job",{}]`
	said := "slow_compute: computed x in 0.1s\ntest_tool_with_task: Hello, Ada!\n" +
		`failing_job: {"error":"the job went wrong"}` + "\nprotocol_error_job: failed\n"
	asks := `,["confirm_delete",{"filename":"a.txt"}],["multi_input",{}]`
	answered := "confirm_delete: deleted a.txt\nmulti_input: Ada, sure: true\n"
	for _, c := range []struct{ script, era, calls, want string }{
		{"sdk-client.mjs", "legacy", plain + asks, said + answered},
		{"ext-client.mjs", "legacy", plain, said}, // it does not fetch the questions of a task: it never asks for a result before the end
		{"ext-client.mjs", "modern", plain + asks, said + answered},
	} {
		t.Run(c.script+" "+c.era, func(t *testing.T) {
			script, err := os.Open(filepath.Join("testdata", c.script))
			if err != nil {
				t.Fatal(err)
			}
			defer script.Close()
			// Read from its input, the script finds the packages in the folder that it runs in.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node.Program(), "--input-type=module", "-", web.URL, c.era, "["+c.calls+"]")
			cmd.Dir = node.Dir()
			cmd.Stdin = script
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != c.want {
				t.Errorf("got %s, %v", out, err)
			}
		})
	}
}

func TestALegacyServerRefusesModernClients(t *testing.T) {
	server, err := taskserver.New()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := httptest.NewServer(taskserver.Legacy(server))
	defer web.Close()
	for version, want := range map[string]int{"2026-07-28": http.StatusBadRequest, "2025-11-25": http.StatusOK} {
		hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"test","version":"1"}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Mcp-Protocol-Version", version)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: got %s", version, res.Status)
		}
	}
}
