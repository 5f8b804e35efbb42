package recall

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/state/config"
)

// objects are what a chart makes, by kind.
type objects map[string]map[string]any

// releaseName is that of every release here.
const releaseName = "x"

// chartValues are settings under which the chart must be right.
func chartValues(t *testing.T) map[string]map[string]any {
	t.Helper()
	var usual map[string]any
	if err := yaml.Unmarshal(deployed(t, "chart/values.yaml"), &usual); err != nil {
		t.Fatal(err)
	}
	with := func(changes map[string]any) map[string]any {
		v := maps.Clone(usual)
		maps.Copy(v, changes)
		return v
	}
	prefixed := maps.Clone(usual["config"].(map[string]any))
	prefixed["basePath"] = "/tools/"
	return map[string]map[string]any{
		"as it is":       usual,
		"under a prefix": with(map[string]any{"config": prefixed}),
		"replicas":       with(map[string]any{"secret": "keys", "replicas": 3, "podAnnotations": map[string]any{"a": "b", "c": "1"}}),
		"another port":   with(map[string]any{"port": 8080, "grace": 5}),
		"another image":  with(map[string]any{"image": map[string]any{"repository": "r.example/t", "tag": "2", "pullPolicy": "Always"}}),
		"a canary":       with(map[string]any{"nameOverride": "recall-canary", "selector": nil}),
		"no name":        with(map[string]any{"nameOverride": ""}),
		"too long names": with(map[string]any{"nameOverride": strings.Repeat("a", 62) + "-b"}),
		"taken over":     with(map[string]any{"selector": map[string]any{"app": "agent-retrieval", "app.kubernetes.io/instance": "old"}}),
	}
}

// render fills in the chart's templates with the few functions of Helm that they use, so
// that they are checked where Helm is not at hand. Another test compares it with Helm.
func render(t *testing.T, values map[string]any) objects {
	t.Helper()
	var chart map[string]any
	if err := yaml.Unmarshal(deployed(t, "chart/Chart.yaml"), &chart); err != nil {
		t.Fatal(err)
	}
	data := map[string]any{
		"Values": values, "Release": map[string]any{"Name": releaseName, "Service": "Helm"},
		"Chart": map[string]any{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
	}
	root := template.New("").Option("missingkey=error")
	root.Funcs(helmFunctions(root))
	files, err := filepath.Glob(deploy + "chart/templates/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	var out bytes.Buffer
	for _, file := range files {
		name := filepath.Base(file)
		if _, err := root.New(name).Parse(string(deployed(t, "chart/templates/"+name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		out.WriteString("---\n")
		if err := root.ExecuteTemplate(&out, filepath.Base(file), data); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	return readObjects(t, out.Bytes())
}

// helmFunctions are the functions that the chart uses, as Helm defines them.
func helmFunctions(root *template.Template) template.FuncMap {
	return template.FuncMap{
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
			if m, ok := given.(map[string]any); given == nil || given == "" || ok && len(m) == 0 {
				return usual
			}
			return given
		},
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
		"merge": func(into map[string]any, others ...map[string]any) map[string]any {
			for _, m := range slices.Backward(others) {
				maps.Copy(into, m) // the first one has the last word
			}
			return into
		},
		"int": func(v any) (n int, err error) {
			_, err = fmt.Sscan(fmt.Sprint(v), &n)
			return n, err
		},
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	}
}

// readObjects reads a stream of Kubernetes objects.
func readObjects(t *testing.T, text []byte) objects {
	t.Helper()
	all := objects{}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc map[string]any
		err := d.Decode(&doc)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		kind, _ := doc["kind"].(string)
		if kind == "" || all[kind] != nil {
			t.Fatalf("no kind, or one twice: %v", doc)
		}
		all[kind] = doc
	}
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

func TestTheChartMakesADeploymentThatRollsOverSafely(t *testing.T) {
	for name, v := range chartValues(t) {
		made := render(t, v)
		if kinds := slices.Sorted(maps.Keys(made)); fmt.Sprint(kinds) != "[ConfigMap Deployment Service]" {
			t.Errorf("%s: kinds %v", name, kinds)
		}
		d := made["Deployment"]
		service := made["Service"]
		pod := at(d, "spec", "template", "spec")
		box := at(pod, "containers", 0)
		base := strings.TrimSuffix(fmt.Sprint(at(v, "config", "basePath")), "/")
		for what, want := range map[string][2]any{
			"replicas":        {at(d, "spec", "replicas"), v["replicas"]},
			"no pod too few":  {at(d, "spec", "strategy", "rollingUpdate"), map[string]any{"maxSurge": 1, "maxUnavailable": 0}},
			"its own pods":    {at(d, "spec", "selector", "matchLabels"), at(service, "spec", "selector")},
			"grace":           {at(pod, "terminationGracePeriodSeconds"), v["grace"]},
			"no root":         {at(pod, "securityContext", "runAsNonRoot"), true},
			"user of image":   {at(pod, "securityContext", "runAsUser"), 65532},
			"no token":        {at(pod, "automountServiceAccountToken"), false},
			"files stay":      {at(box, "securityContext", "readOnlyRootFilesystem"), true},
			"ready":           {at(box, "readinessProbe", "httpGet"), map[string]any{"path": base + "/readyz", "port": "http"}},
			"alive":           {at(box, "livenessProbe", "httpGet"), map[string]any{"path": base + "/healthz", "port": "http"}},
			"started":         {at(box, "startupProbe", "httpGet"), map[string]any{"path": base + "/healthz", "port": "http"}},
			"limits":          {at(box, "resources"), v["resources"]},
			"port of the pod": {at(box, "ports", 0), map[string]any{"name": "http", "containerPort": v["port"]}},
			"service":         {at(service, "spec", "ports", 0), map[string]any{"name": "http", "port": v["port"], "targetPort": "http"}},
			"command": {at(box, "args"), []any{"serve", "--config", "/etc/toolfit/toolfit.yaml", "--listen",
				fmt.Sprint("0.0.0.0:", v["port"])}},
		} {
			if want[1] == nil || fmt.Sprint(want[0]) != fmt.Sprint(want[1]) {
				t.Errorf("%s, %s: got %v, want %v", name, what, want[0], want[1])
			}
		}
		labels, _ := at(d, "spec", "template", "metadata", "labels").(map[string]any)
		wanted, _ := at(service, "spec", "selector").(map[string]any)
		for key, value := range wanted {
			if labels[key] != value {
				t.Errorf("%s: the selector wants %s: %v, and the pods have %v", name, key, value, labels)
			}
		}
		checkVolumes(t, name, pod, at(made["ConfigMap"], "metadata", "name"))
	}
}

// checkVolumes: each mount is of a volume that there is, and the configuration is ours.
func checkVolumes(t *testing.T, name string, pod, configMap any) {
	t.Helper()
	var have, used []string
	volumes, _ := at(pod, "volumes").([]any)
	for _, v := range volumes {
		have = append(have, fmt.Sprint(at(v, "name")))
		if at(v, "name") == "config" && at(v, "configMap", "name") != configMap {
			t.Errorf("%s: configuration of %v, want %v", name, v, configMap)
		}
	}
	mounts, _ := at(pod, "containers", 0, "volumeMounts").([]any)
	for _, m := range mounts {
		used = append(used, fmt.Sprint(at(m, "name"), at(m, "mountPath")))
	}
	if fmt.Sprint(have, used) != "[config data tmp] [config/etc/toolfit data/data tmp/tmp]" {
		t.Errorf("%s: volumes %v, mounts %v", name, have, used)
	}
}

func TestTheChartNamesEverythingAlike(t *testing.T) {
	for set, want := range map[string]string{
		"as it is": "agent-retrieval", "a canary": "recall-canary", "no name": releaseName, "too long names": strings.Repeat("a", 62),
	} {
		for kind, o := range render(t, chartValues(t)[set]) {
			if got := at(o, "metadata", "name"); got != want {
				t.Errorf("%s: the %s is called %v, want %s", set, kind, got, want)
			}
		}
	}
}

func TestTheChartsConfigurationIsOneThatWeRead(t *testing.T) {
	text, _ := at(render(t, chartValues(t)["as it is"])["ConfigMap"], "data", "toolfit.yaml").(string)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cfg.Listen = "0.0.0.0:30779" // as the command line says
	if cfg.RecallAddress() != "agent-retrieval:30779" || len(cfg.Recall.Trust) == 0 || cfg.Recall.OntologyQuery.URL == "" {
		t.Errorf("address %s, recall %+v", cfg.RecallAddress(), cfg.Recall)
	}
	if !filepath.IsAbs(cfg.Store) || !strings.HasPrefix(cfg.Store, "/data/") {
		t.Errorf("the store is at %s, which is on no volume", cfg.Store)
	}
}

func TestTheChartTellsEachReplicaItsAddress(t *testing.T) {
	for set, want := range map[string]any{"as it is": nil, "replicas": "http://$(POD_IP):30779"} {
		d := render(t, chartValues(t)[set])["Deployment"]
		if got := at(d, "spec", "template", "spec", "containers", 0, "env", 1, "value"); got != want {
			t.Errorf("%s: %v", set, got)
		}
	}
}

func TestTheChartGivesASecretOnlyWhereOneIsNamed(t *testing.T) {
	sets := chartValues(t)
	for set, want := range map[string]any{"replicas": "keys", "as it is": nil} {
		if got := at(render(t, sets[set])["Deployment"], "spec", "template", "spec", "containers", 0, "envFrom", 0, "secretRef",
			"name"); got != want {
			t.Errorf("%s: secret %v, want %v", set, got, want)
		}
	}
}
