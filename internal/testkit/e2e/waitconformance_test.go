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

// TestTaskConformance runs them against a gateway in front of a server with tasks, of each era.
func TestTaskConformance(t *testing.T) {
	node := testparts.Need(t)
	slots := make(chan struct{}, 2)
	for era := range eras {
		t.Run(era+" server", func(t *testing.T) {
			g := serve(t, write(t, bare(taskServer(t, era))))
			t.Run("scenarios", func(t *testing.T) {
				for scenario, want := range taskScenarios {
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
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if modern := r.Header.Get("Mcp-Method") != ""; modern != (era == "modern") {
			w.WriteHeader(http.StatusNotFound) // it has never heard of the other
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}
