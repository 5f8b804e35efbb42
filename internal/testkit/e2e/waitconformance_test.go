package e2e

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/taskserver"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// taskScenarios are those of the suite about tasks, with the number of their checks. They are all for
// modern clients.
var taskScenarios = map[string]int{
	"tasks-lifecycle": 9, "tasks-capability-negotiation": 5, "tasks-wire-fields": 4, "tasks-request-state-removal": 3,
	"tasks-mrtr-input": 4, "tasks-request-headers": 5, "tasks-dispatch-and-envelope": 9, "tasks-required-task-error": 3,
	"tasks-mrtr-composition": 2, "tasks-status-notifications": 0, // the suite skips the only one
}

// notWithLegacy is the scenario that a legacy server cannot express: it has no such refusal, and we wait
// for the task on behalf of the client.
const notWithLegacy = "tasks-required-task-error"

// TestTaskConformance runs them against a gateway in front of a server with tasks, of each era.
func TestTaskConformance(t *testing.T) {
	node := testparts.Need(t)
	slots := make(chan struct{}, 2)
	for era := range eras {
		t.Run(era+" server", func(t *testing.T) {
			g := serve(t, write(t, bare(taskServer(t, era))))
			t.Run("scenarios", func(t *testing.T) {
				for scenario, want := range taskScenarios {
					if scenario == notWithLegacy && era == "legacy" {
						continue
					}
					t.Run(scenario, func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						out, results, err := suite(t, node, newSuite, nil, "server", "--url", g.url+"/mcp", "--scenario", scenario)
						passed, failed := checks(t, results)
						for name, why := range failed {
							t.Errorf("%s: %s", name, why)
						}
						if passed != want {
							t.Errorf("%d of %d checks passed, %v\n%s", passed, want, err, out)
						}
					})
				}
			})
		})
	}
}

// taskServer is the URL of a server that makes tasks, of one era.
func taskServer(t *testing.T, era string) string {
	t.Helper()
	server, err := taskserver.New()
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = server
	if era == "legacy" {
		handler = taskserver.Legacy(server)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}
