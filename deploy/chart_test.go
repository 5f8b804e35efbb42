package deploy_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestTheChartMakesADeploymentThatIsSafe(t *testing.T) {
	for name, v := range sets(t) {
		made := mustRender(t, v)
		d := made["Deployment"]
		service := made["Service"]
		pod := at(d, "spec", "template", "spec")
		box := at(pod, "containers", 0)
		base := strings.TrimSuffix(fmt.Sprint(at(v, "config", "basePath")), "/")
		if at(v, "config", "basePath") == nil {
			base = ""
		}
		for what, want := range map[string][2]any{
			"its own pods":    {at(d, "spec", "selector", "matchLabels"), at(service, "spec", "selector")},
			"grace":           {at(pod, "terminationGracePeriodSeconds"), v["grace"]},
			"no root":         {at(pod, "securityContext", "runAsNonRoot"), true},
			"user of image":   {at(pod, "securityContext", "runAsUser"), 65532},
			"no token":        {at(pod, "automountServiceAccountToken"), false},
			"no rights":       {at(box, "securityContext", "capabilities", "drop", 0), "ALL"},
			"files stay":      {at(box, "securityContext", "readOnlyRootFilesystem"), true},
			"ready":           {at(box, "readinessProbe", "httpGet"), map[string]any{"path": base + "/readyz", "port": "http"}},
			"alive":           {at(box, "livenessProbe", "httpGet"), map[string]any{"path": base + "/healthz", "port": "http"}},
			"started":         {at(box, "startupProbe", "httpGet"), map[string]any{"path": base + "/healthz", "port": "http"}},
			"limits":          {at(box, "resources"), v["resources"]},
			"port of the pod": {at(box, "ports", 0), map[string]any{"name": "http", "containerPort": v["port"]}},
			"service":         {at(service, "spec", "ports", 0), map[string]any{"name": "http", "port": v["port"], "targetPort": "http"}},
			"configuration":   {at(pod, "volumes", 0, "configMap", "name"), at(made["ConfigMap"], "metadata", "name")},
			"command":         {fmt.Sprint(at(box, "args", 0), at(box, "args", 1), at(box, "args", 2)), "serve--config/etc/toolfit/toolfit.yaml"},
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
		checkVolumes(t, name, pod)
	}
}

// checkVolumes: each mount is of a volume that there is, and what the gateway writes to is one.
func checkVolumes(t *testing.T, name string, pod any) {
	t.Helper()
	have := map[any]bool{}
	volumes, _ := at(pod, "volumes").([]any)
	for _, v := range volumes {
		have[at(v, "name")] = true
	}
	writable := map[any]bool{}
	mounts, _ := at(pod, "containers", 0, "volumeMounts").([]any)
	for _, m := range mounts {
		if !have[at(m, "name")] {
			t.Errorf("%s: no volume for %v", name, m)
		}
		writable[at(m, "mountPath")] = true
	}
	env, _ := at(pod, "containers", 0, "env").([]any)
	for _, e := range env {
		if at(e, "name") == "HOME" && !writable[at(e, "value")] {
			t.Errorf("%s: nothing can be written to %v", name, e)
		}
	}
	if !writable["/data"] || !writable["/tmp"] {
		t.Errorf("%s: mounts %v", name, mounts)
	}
}

func TestTheChartMakesNoMoreThanWasAskedFor(t *testing.T) {
	usual := "ConfigMap Deployment PersistentVolumeClaim Secret Service ServiceAccount"
	for name, want := range map[string]string{
		"as it is": usual, "under a prefix": usual, "a class": usual,
		"a claim":  "ConfigMap Deployment Secret Service ServiceAccount",
		"a secret": "ConfigMap Deployment PersistentVolumeClaim Service ServiceAccount",
		"pods":     "ConfigMap Deployment PersistentVolumeClaim Secret Service",
		"recall":   "ConfigMap Deployment Secret Service ServiceAccount",
		"external": "ConfigMap Deployment ExternalSecret Service ServiceAccount",
		"everything": "ConfigMap Deployment HTTPRoute HorizontalPodAutoscaler Ingress NetworkPolicy PodDisruptionBudget " +
			"Service ServiceAccount ServiceMonitor",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(mustRender(t, sets(t)[name]))), " "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheChartNamesEverythingAlike(t *testing.T) {
	for set, want := range map[string]string{
		"as it is": releaseName, "recall": "agent-retrieval", "everything": releaseName, "too long names": strings.Repeat("a", 62),
	} {
		for kind, o := range mustRender(t, sets(t)[set]) {
			if got := at(o, "metadata", "name"); got != want {
				t.Errorf("%s: the %s is called %v, want %s", set, kind, got, want)
			}
		}
	}
}

func TestOnlyTheRecallValuesSpeakOfRecall(t *testing.T) {
	files, err := filepath.Glob("chart/templates/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "chart/values.yaml", "chart/Chart.yaml", "chart/values.schema.json") {
		if found := regexp.MustCompile(`(?i)recall|agent-retrieval|30779|ontology`).Find(read(t, file)); found != nil {
			t.Errorf("%s says %s", file, found)
		}
	}
}

// TestTheChartsConfigurationIsOneThatWeRead reads each toolfit.yaml as the gateway does.
func TestTheChartsConfigurationIsOneThatWeRead(t *testing.T) {
	for name, v := range sets(t) {
		text, _ := at(mustRender(t, v)["ConfigMap"], "data", "toolfit.yaml").(string)
		lookup := func(name string) (string, bool) { return "postgres://u@db/toolfit", name == "TOOLFIT_STORE" }
		cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), lookup)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		wantStore := "/data/toolfit.db"
		if at(v, "store", "kind") == "postgres" {
			wantStore = "postgres://u@db/toolfit"
		}
		if cfg.Store != wantStore {
			t.Errorf("%s: the store is at %s, want %s", name, cfg.Store, wantStore)
		}
		own := fmt.Sprint(at(mustRender(t, v)["Service"], "metadata", "name"))
		if !slices.Contains(cfg.Hosts, own) || !slices.Contains(cfg.Hosts, own+".default.svc.cluster.local") {
			t.Errorf("%s: the service's names are not served: %v", name, cfg.Hosts)
		}
		switch name {
		case "everything":
			want := "[x x.default x.default.svc x.default.svc.cluster.local tools.example.com t.example.com 10.0.0.1]"
			if fmt.Sprint(cfg.Hosts) != want {
				t.Errorf("hosts %v, want %s", cfg.Hosts, want)
			}
		case "recall":
			cfg.Listen = "0.0.0.0:30779" // as the command line says
			if cfg.RecallAddress() != "agent-retrieval:30779" || len(cfg.Recall.Trust) == 0 || cfg.Recall.OntologyQuery.URL == "" {
				t.Errorf("address %s, recall %+v", cfg.RecallAddress(), cfg.Recall)
			}
		}
	}
}

func TestAPodDrainsWhereAnotherOneTakesOver(t *testing.T) {
	for set, want := range map[string][2]string{
		"as it is":     {"Recreate", ""}, // the volume is for one pod: nobody could take over
		"recall":       {"RollingUpdate", "http://$(POD_IP):30779"},
		"everything":   {"RollingUpdate", "http://$(POD_IP):8420"},
		"another port": {"RollingUpdate", "http://[$(POD_IP)]:8080"},
	} {
		d := mustRender(t, sets(t)[set])["Deployment"]
		address := ""
		env, _ := at(d, "spec", "template", "spec", "containers", 0, "env").([]any)
		for _, e := range env {
			if at(e, "name") == "TOOLFIT_REPLICA_URL" { // replica.drain is for gateways with an address
				address = fmt.Sprint(at(e, "value"))
			}
		}
		if strategy := at(d, "spec", "strategy", "type"); strategy != want[0] || address != want[1] {
			t.Errorf("%s: %v, %q", set, strategy, address)
		}
	}
}

func TestTheChartMakesAFirstKeyThatTheGatewayTakes(t *testing.T) {
	for set, want := range map[string]string{"as it is": releaseName, "a secret": "keys", "external": releaseName, "everything": "keys"} {
		made := mustRender(t, sets(t)[set])
		if got := at(made["Deployment"], "spec", "template", "spec", "containers", 0, "envFrom", 0, "secretRef", "name"); got != want {
			t.Errorf("%s: secret %v, want %s", set, got, want)
		}
	}
	checkFirstKey(t, mustRender(t, sets(t)["as it is"])["Secret"])
}

// checkFirstKey checks the secret that the chart makes.
func checkFirstKey(t *testing.T, secret map[string]any) {
	t.Helper()
	decode := func(name string) string {
		text, err := base64.StdEncoding.DecodeString(fmt.Sprint(at(secret, "data", name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if _, err := access.GivenKey(decode(access.AdminKeyVariable)); err != nil {
		t.Error(err)
	}
	if key := decode("TOOLFIT_SECRET_KEY"); len(key) < 64 {
		t.Errorf("a secret key of %d characters", len(key))
	}
	if at(secret, "metadata", "annotations", "helm.sh/resource-policy") != "keep" {
		t.Error("helm uninstall would delete the key to what is stored")
	}
}

func TestANetworkPolicyLetsReplicasReachEachOther(t *testing.T) {
	for _, set := range []string{"everything", "closed"} {
		made := mustRender(t, sets(t)[set])
		spec := made["NetworkPolicy"]["spec"]
		own := fmt.Sprint(map[string]any{"podSelector": map[string]any{"matchLabels": at(made["Service"], "spec", "selector")}})
		if got := fmt.Sprint(at(spec, "ingress", 0, "from", 1)); got != own {
			t.Errorf("%s: the second peer is %s, want %s", set, got, own)
		}
		if set == "closed" {
			if at(spec, "egress") != nil || fmt.Sprint(at(spec, "policyTypes")) != "[Ingress]" {
				t.Errorf("egress is limited unasked: %v", spec)
			}
			continue
		}
		if at(spec, "egress", 0, "ports", 0, "port") != 53 || fmt.Sprint(at(spec, "egress", 1, "to", 0)) != own {
			t.Errorf("neither names nor replicas can be reached: %v", at(spec, "egress"))
		}
	}
}

func TestTheNotesSayHowToGoOn(t *testing.T) {
	for set, want := range map[string][]string{
		"as it is":   {"get secret x ", "port-forward service/x 8420", "http://x.default:8420/mcp", "There are no servers yet"},
		"everything": {"get secret keys ", "https://tools.example.com/"},
		"recall":     {"rollout status deployment/agent-retrieval", "lost with the pod"},
	} {
		_, notes, err := render(t, sets(t)[set])
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(notes, text) {
				t.Errorf("%s: %q is not in\n%s", set, text, notes)
			}
		}
	}
}
