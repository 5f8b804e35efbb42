package recall

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/config"
)

const deploy = "../../deploy/"

// deployed reads a file of the folder deploy.
func deployed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAlarmsAndDashboardNameMetricsThatThereAre(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	m.requests.WithLabelValues("proxy", "200")
	m.duration.WithLabelValues("proxy")
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range families {
		known[f.GetName()] = true
	}
	for _, file := range []string{"alerts.yaml", "alerts_test.yaml", "dashboard.json"} {
		names := regexp.MustCompile(`toolfit_[a-z_]+`).FindAllString(string(deployed(t, file)), -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !known[strings.TrimSuffix(name, "_bucket")] {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
	}
}

func TestAlarmsHaveTheOperatorsThresholds(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert  string            `yaml:"alert"`
				Expr   string            `yaml:"expr"`
				Labels map[string]string `yaml:"labels"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(deployed(t, "alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules.Groups[0].Rules {
		expr := strings.TrimSpace(r.Expr)
		got = append(got, r.Alert+" "+r.Labels["severity"]+expr[strings.LastIndex(expr, " > "):])
	}
	if want := "RecallProxyErrors P1 > 0.05, RecallProxySlow P2 > 3, RecallConversionFailures P2 > 0.01"; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
}

func TestAlarmsFireOnGivenSeries(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian package prometheus)")
	}
	cmd := exec.CommandContext(t.Context(), program, "test", "rules", "alerts_test.yaml")
	cmd.Dir = deploy
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTheDashboardIsJSONWithAPanelForEachAlarm(t *testing.T) {
	var board struct {
		Panels []struct {
			Title string `json:"title"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(deployed(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	alarms := 0
	for _, p := range board.Panels {
		if strings.Contains(p.Title, "alarm") {
			alarms++
		}
	}
	if alarms != 3 {
		t.Errorf("%d panels show an alarm's threshold", alarms)
	}
}

func TestTheImageHoldsTheProgramAloneAndNoRoot(t *testing.T) {
	var last []string // instructions of the last stage
	for line := range strings.SplitSeq(string(deployed(t, "Dockerfile")), "\n") {
		word, _, _ := strings.Cut(line, " ")
		switch {
		case word == "FROM":
			last = []string{line}
		case word != "" && word == strings.ToUpper(word) && word[0] != '#' && word[0] != '&':
			last = append(last, line)
		}
	}
	text := strings.Join(last, "\n")
	for _, want := range []string{"FROM scratch\n", "\nUSER 65532:65532\n", "\nENTRYPOINT [\"/toolfit\"]\n", "ca-certificates.crt"} {
		if !strings.Contains(text, want) {
			t.Errorf("the last stage lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "RUN ") {
		t.Error("the last stage runs something, and has no shell")
	}
}

func TestTheChartsConfigurationIsOneThatWeRead(t *testing.T) {
	var values struct {
		Name   string         `yaml:"nameOverride"`
		Port   int            `yaml:"port"`
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(deployed(t, "chart/values.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(values.Config)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.RecallAddress() != "agent-retrieval:30779" || values.Name != "agent-retrieval" || values.Port != 30779 || len(cfg.Recall.Trust) == 0 {
		t.Errorf("address %s, values %+v", cfg.RecallAddress(), values)
	}
}

func TestTheChartIsAccepted(t *testing.T) {
	program, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("helm is not installed")
	}
	for _, args := range [][]string{{"lint", "--strict", "chart"}, {"template", "x", "chart"}, {"template", "x", "chart", "--set", "secret=s,replicas=3,image.tag=1"}} {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = deploy
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("helm %v: %v\n%s", args, err, out)
		}
		if args[0] == "template" && !strings.Contains(string(out), "kind: Deployment\nmetadata:\n  name: agent-retrieval\n") {
			t.Errorf("helm %v: no deployment agent-retrieval\n%s", args, out)
		}
	}
}
