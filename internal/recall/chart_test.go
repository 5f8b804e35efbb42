package recall

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// render fills in the chart's templates with the few functions of Helm that they use, so
// that they are checked where Helm is not at hand.
func render(t *testing.T, values map[string]any) map[string]map[string]any {
	t.Helper()
	data := map[string]any{
		"Values": values, "Release": map[string]any{"Name": "x", "Service": "Helm"},
		"Chart": map[string]any{"Name": "toolfit", "Version": "0", "AppVersion": "0"},
	}
	root := template.New("")
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml": func(v any) (string, error) {
			out, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(out), "\n"), err
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"default": func(usual, given any) any {
			if given == nil || given == "" {
				return usual
			}
			return given
		},
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"quote":      func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	})
	kinds := map[string]map[string]any{}
	for _, file := range []string{"_names.tpl", "configmap.yaml", "service.yaml", "deployment.yaml"} {
		if _, err := root.New(file).Parse(string(deployed(t, "chart/templates/"+file))); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := root.ExecuteTemplate(&out, file, data); err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := yaml.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, out.Bytes())
		}
		if kind, ok := doc["kind"].(string); ok {
			kinds[kind] = doc
		}
	}
	return kinds
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

func TestTheChartRendersOneDeploymentThatRollsOverSafely(t *testing.T) {
	var values map[string]any
	if err := yaml.Unmarshal(deployed(t, "chart/values.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	with := maps.Clone(values)
	with["secret"], with["replicas"], with["podAnnotations"] = "keys", 3, map[string]any{"a": "b"}
	for _, v := range []map[string]any{values, with} {
		kinds := render(t, v)
		d := kinds["Deployment"]
		pod := at(d, "spec", "template", "spec")
		for _, c := range []struct {
			got, want any
		}{
			{at(d, "metadata", "name"), "agent-retrieval"},
			{at(kinds["Service"], "metadata", "name"), "agent-retrieval"},
			{at(kinds["Service"], "spec", "ports", 0, "port"), 30779},
			{at(d, "spec", "replicas"), v["replicas"]},
			{at(d, "spec", "strategy", "rollingUpdate", "maxUnavailable"), 0},
			{at(d, "spec", "selector", "matchLabels", "app.kubernetes.io/name"), at(d, "spec", "template", "metadata", "labels", "app.kubernetes.io/name")},
			{at(pod, "securityContext", "runAsNonRoot"), true},
			{at(pod, "containers", 0, "readinessProbe", "httpGet", "path"), "/readyz"},
			{at(pod, "containers", 0, "livenessProbe", "httpGet", "path"), "/healthz"},
			{at(pod, "containers", 0, "ports", 0, "containerPort"), 30779},
			{at(pod, "containers", 0, "securityContext", "readOnlyRootFilesystem"), true},
		} {
			if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		}
		if at(pod, "containers", 0, "resources", "limits", "memory") == nil {
			t.Error("no limits")
		}
		if !strings.Contains(fmt.Sprint(at(kinds["ConfigMap"], "data", "toolfit.yaml")), "ontologyQuery:") {
			t.Errorf("configuration %v", kinds["ConfigMap"])
		}
	}
	if got := at(render(t, with)["Deployment"], "spec", "template", "spec", "containers", 0, "envFrom", 0, "secretRef", "name"); got != "keys" {
		t.Errorf("secret %v", got)
	}
}
