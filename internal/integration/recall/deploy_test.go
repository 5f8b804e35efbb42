package recall

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"
)

const deploy = "../../../deploy/"

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
		names := regexp.MustCompile(`toolfit_[a-z_]+`).FindAllString(string(deployed(t, "recall/"+file)), -1)
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
	if err := yaml.Unmarshal(deployed(t, "recall/alerts.yaml"), &rules); err != nil {
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

func TestTheDashboardIsJSONWithAPanelForEachAlarm(t *testing.T) {
	var board struct {
		Panels []struct {
			Title string `json:"title"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(deployed(t, "recall/dashboard.json"), &board); err != nil {
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
