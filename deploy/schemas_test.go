package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// kubernetesModule has the description of Kubernetes' own kinds.
const kubernetesModule = "k8s.io/kubernetes@v1.35.4"

// builtIn are the kinds of Kubernetes that the chart makes, by the names of their definitions.
var builtIn = map[string]string{
	"ConfigMap": "core.v1", "Deployment": "apps.v1", "HorizontalPodAutoscaler": "autoscaling.v2", "Ingress": "networking.v1",
	"NetworkPolicy": "networking.v1", "PersistentVolumeClaim": "core.v1", "PodDisruptionBudget": "policy.v1", "Secret": "core.v1",
	"Service": "core.v1", "ServiceAccount": "core.v1",
}

// custom are the kinds of others, by the files of their definitions.
var custom = map[string][2]string{
	"HTTPRoute": {"sigs.k8s.io/gateway-api@v1.4.1", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"},
	"ServiceMonitor": {"github.com/prometheus-operator/prometheus-operator@v0.85.0",
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"},
	"ExternalSecret": {"github.com/external-secrets/external-secrets@v1.3.2",
		"config/crds/bases/external-secrets.io_externalsecrets.yaml"},
}

// ofModule reads a file of a module, which the go command downloads.
func ofModule(t *testing.T, module, path string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // beside our own go.mod
	out, err := cmd.Output()
	var at struct{ Dir, Error string }
	if json.Unmarshal(out, &at); err != nil || at.Dir == "" {
		t.Fatalf("%s: %v %s", module, err, at.Error)
	}
	return read(t, filepath.Join(at.Dir, path))
}

// kubernetesSchemas writes a JSON schema for each kind, and returns their folder.
func kubernetesSchemas(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(kind string, schema map[string]any) {
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.ToLower(kind)+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all struct{ Definitions map[string]any }
	if err := json.Unmarshal(ofModule(t, kubernetesModule, "api/openapi-spec/swagger.json"), &all); err != nil {
		t.Fatal(err)
	}
	closed(all.Definitions)
	for kind, group := range builtIn {
		used := map[string]any{}
		reach(all.Definitions, "io.k8s.api."+group+"."+kind, used)
		write(kind, map[string]any{"$ref": "#/definitions/io.k8s.api." + group + "." + kind, "definitions": used})
	}
	for kind, from := range custom {
		var crd map[string]any
		if err := yaml.Unmarshal(ofModule(t, from[0], from[1]), &crd); err != nil {
			t.Fatal(err)
		}
		schema, _ := at(crd, "spec", "versions", 0, "schema", "openAPIV3Schema").(map[string]any)
		if at(crd, "spec", "versions", 0, "name") != "v1" || schema == nil {
			t.Fatalf("%s has no v1", kind)
		}
		closed(schema)
		delete(schema["properties"].(map[string]any), "metadata") // any object, as it is written there
		schema["additionalProperties"] = true
		write(kind, schema)
	}
	return dir
}

// closed makes a schema say what the API server does with a strict client: no fields that are not known, and numbers where
// texts may be numbers.
func closed(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			closed(one)
		}
	case map[string]any:
		if v["format"] == "int-or-string" || v["x-kubernetes-int-or-string"] == true {
			delete(v, "format")
			v["type"] = []any{"integer", "string"}
		}
		if properties, ok := v["properties"].(map[string]any); ok && properties["$ref"] == nil && v["additionalProperties"] == nil &&
			v["x-kubernetes-preserve-unknown-fields"] != true {
			v["additionalProperties"] = false
		}
		for _, below := range v {
			closed(below)
		}
	}
}

// reach collects a definition and all that it refers to.
func reach(all map[string]any, name string, used map[string]any) {
	if used[name] != nil || all[name] == nil {
		return
	}
	used[name] = all[name]
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				look(one)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				reach(all, strings.TrimPrefix(ref, "#/definitions/"), used)
			}
			for _, below := range v {
				look(below)
			}
		}
	}
	look(all[name])
}
