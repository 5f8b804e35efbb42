package recall

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"
)

var mustDeploy = flag.Bool("deploy", false, "helm must be there: make deploy-check builds it")

// TestTheChartIsTheSameByHelm holds our own filling-in to Helm's.
func TestTheChartIsTheSameByHelm(t *testing.T) {
	program, err := exec.LookPath("helm")
	if err != nil {
		if *mustDeploy {
			t.Fatal(err)
		}
		t.Skip("needs helm: make deploy-check builds it")
	}
	lint := exec.CommandContext(t.Context(), program, "lint", "--strict", deploy+"chart")
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("helm lint: %v\n%s", err, out)
	}
	for name, v := range chartValues(t) {
		values, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "template", releaseName, deploy+"chart", "-f", "-")
		cmd.Stdin = bytes.NewReader(values)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("helm template, %s: %v", name, err)
		}
		theirs := readObjects(t, out)
		ours := render(t, v)
		for _, o := range []objects{theirs, ours} {
			checked, _ := at(o["Deployment"], "spec", "template", "metadata", "annotations").(map[string]any)
			delete(checked, "checksum/config") // of a text whose indentation is each one's own
			data, _ := o["ConfigMap"]["data"].(map[string]any)
			var meaning any
			if err := yaml.Unmarshal([]byte(fmt.Sprint(data["toolfit.yaml"])), &meaning); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			data["toolfit.yaml"] = meaning
		}
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s: helm makes\n%v\nand we\n%v", name, theirs, ours)
		}
	}
}
