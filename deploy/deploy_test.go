// The chart, the alerts, the dashboards and the compose example. What needs Helm and the schemas of Kubernetes runs with
// make deploy-check; all else is tried everywhere.
package deploy_test

import (
	"flag"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

var whole = flag.Bool("deploy", false, "use Helm and kubeconform, which make deploy-check builds, and modules that it downloads")

// read reads a file of this folder.
func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readYAML reads a YAML or JSON file of this folder.
func readYAML[T any](t *testing.T, name string) (v T) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, name), &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// at follows keys and, as numbers, places in lists.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}
