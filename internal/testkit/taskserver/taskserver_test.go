package taskserver_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
