package deploy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// built is a program that make deploy-check builds. Without it the test is skipped.
func built(t *testing.T, name string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil && *whole {
		t.Fatal(err)
	}
	if err != nil || !*whole {
		t.Skipf("needs %s: run make deploy-check", name)
	}
	return program
}

// helmTemplate has Helm fill in the chart.
func helmTemplate(t *testing.T, helm string, values map[string]any) (made, problem []byte, err error) {
	t.Helper()
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), helm, "template", releaseName, "chart", "--namespace", namespace, "-f", "-")
	cmd.Stdin = bytes.NewReader(text)
	var said bytes.Buffer
	cmd.Stderr = &said
	made, err = cmd.Output()
	return made, said.Bytes(), err
}

// TestTheChartIsTheSameByHelm holds our own filling-in to Helm's.
func TestTheChartIsTheSameByHelm(t *testing.T) {
	helm := built(t, "helm")
	for _, args := range [][]string{{"chart"}, {"chart", "-f", "chart/values-recall.yaml"}} {
		if out, err := exec.CommandContext(t.Context(), helm, append([]string{"lint", "--strict"}, args...)...).CombinedOutput(); err != nil {
			t.Errorf("helm lint: %v\n%s", err, out)
		}
	}
	for name, v := range sets(t) {
		out, said, err := helmTemplate(t, helm, v)
		if err != nil {
			t.Errorf("helm template, %s: %v\n%s", name, err, said)
			continue
		}
		theirs := readObjects(t, out)
		ours := mustRender(t, v)
		for _, o := range []objects{theirs, ours} {
			checked, _ := at(o["Deployment"], "spec", "template", "metadata", "annotations").(map[string]any)
			delete(checked, "checksum/config") // of a text whose indentation is each one's own
			data, _ := o["ConfigMap"]["data"].(map[string]any)
			var meaning any
			if err := yaml.Unmarshal([]byte(fmt.Sprint(data["toolfit.yaml"])), &meaning); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			data["toolfit.yaml"] = meaning
			if o["Secret"] != nil {
				checkFirstKey(t, o["Secret"])
				delete(o["Secret"], "data") // random
			}
		}
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s: helm makes\n%v\nand we\n%v", name, theirs, ours)
		}
	}
}

// TestAnUpgradeOfTheChartKeepsTheKeys has Helm ask a cluster that has only the secret.
func TestAnUpgradeOfTheChartKeepsTheKeys(t *testing.T) {
	helm := built(t, "helm")
	answers := map[string]string{
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","namespaced":true,"kind":"Secret","verbs":["get"]}]}`,
		"/api/v1/namespaces/default/secrets/x": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},
			"data":{"TOOLFIT_ADMIN_KEY":"b2xk","TOOLFIT_SECRET_KEY":"c2VhbA=="}}`,
	}
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, answers[r.URL.Path])
	}))
	defer cluster.Close()
	out, err := exec.CommandContext(t.Context(), helm, "template", releaseName, "chart", "--namespace", namespace, "--dry-run=server",
		"--kube-apiserver", cluster.URL, "--show-only", "templates/secret.yaml").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]any{"TOOLFIT_ADMIN_KEY": "b2xk", "TOOLFIT_SECRET_KEY": "c2VhbA=="}
	if got := readObjects(t, out)["Secret"]["data"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHelmRefusesWrongValuesOfTheChart(t *testing.T) {
	helm := built(t, "helm")
	for change, want := range refused {
		if _, said, err := helmTemplate(t, helm, with(t, change)); err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%s: %v\n%s", change, err, said)
		}
	}
}

// TestKubernetesTakesWhatTheChartMakes checks every object against the schemas of Kubernetes and of the operators.
func TestKubernetesTakesWhatTheChartMakes(t *testing.T) {
	helm := built(t, "helm")
	kubeconform := built(t, "kubeconform")
	schemas := kubernetesSchemas(t)
	check := func(objects []byte) (string, error) {
		cmd := exec.CommandContext(t.Context(), kubeconform, "-strict", "-summary", "-schema-location",
			filepath.Join(schemas, "{{.ResourceKind}}.json"), "-")
		cmd.Stdin = bytes.NewReader(objects)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, v := range sets(t) {
		objects, said, err := helmTemplate(t, helm, v)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
		if out, err := check(objects); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for from, to := range map[string]string{
			"replicas: ": "replicaz: ", "port: http": "port: [http]", "kind: Service\n": "kind: Servant\n", "storage: 5Gi": "storage: [5Gi]",
			"parentRefs:": "parents:", "credentials:": "secret:", "remoteRef:": "remote:", "averageUtilization: 70": "average: 70",
		} {
			wrong := bytes.Replace(objects, []byte(from), []byte(to), 1)
			if _, err := check(wrong); err == nil && !bytes.Equal(wrong, objects) {
				t.Errorf("%s: %q is not noticed", name, to)
			}
		}
	}
}
