package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// documented are the metrics in the table of docs/rest.md, with their labels. Another test holds that there are exactly these.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `(toolfit_\\w+)` \\| ([\\w, ]*)\\|")
	for _, m := range row.FindAllStringSubmatch(string(read(t, "../docs/rest.md")), -1) {
		all[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
	}
	if len(all) < 20 {
		t.Fatalf("only %d metrics are documented", len(all))
	}
	return all
}

// board is what Grafana needs of a dashboard.
type board struct {
	UID           string `yaml:"uid"`
	SchemaVersion int    `yaml:"schemaVersion"`
	Templating    struct {
		List []struct{ Name, Type string } `yaml:"list"`
	} `yaml:"templating"`
	Panels []panel `yaml:"panels"`
}

type panel struct {
	ID          int                      `yaml:"id"`
	Type, Title string                   `yaml:",omitempty"`
	Datasource  struct{ UID string }     `yaml:"datasource"`
	GridPos     struct{ X, Y, W, H int } `yaml:"gridPos"`
	FieldConfig struct {
		Defaults struct{ Unit string } `yaml:"defaults"`
	} `yaml:"fieldConfig"`
	Targets []struct {
		Expr       string               `yaml:"expr"`
		Datasource struct{ UID string } `yaml:"datasource"`
	} `yaml:"targets"`
}

// alert is a rule of alerts.yaml.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// folders are those with alerts: of the gateway, and of recall.
var folders = []string{".", "recall"}

func alerts(t *testing.T, folder string) []alert {
	t.Helper()
	type file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	return readYAML[file](t, folder+"/alerts.yaml").Groups[0].Rules
}

func TestAlertsAndDashboardNameMetricsAndLabelsThatThereAre(t *testing.T) {
	known := documented(t)
	exprs := map[string]string{}
	for _, a := range alerts(t, ".") {
		exprs[a.Alert] = a.Expr
	}
	for _, p := range readYAML[board](t, "dashboard.json").Panels {
		for _, target := range p.Targets {
			exprs[p.Title+": "+target.Expr] = target.Expr
		}
	}
	selector := regexp.MustCompile(`(toolfit_\w+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`(\w+)=~?"`)
	grouped := regexp.MustCompile(`by \(([^)]*)\)`)
	for where, expr := range exprs {
		used := selector.FindAllStringSubmatch(expr, -1)
		if len(used) == 0 && !strings.HasPrefix(expr, "up{") {
			t.Errorf("%s names no metric: %s", where, expr)
		}
		may := []string{"instance", "job", "le"} // Prometheus' own
		for _, m := range used {
			labels, ok := known[strings.TrimSuffix(m[1], "_bucket")]
			if !ok {
				t.Errorf("%s: there is no metric %s", where, m[1])
			}
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(labels, l[1]) {
					t.Errorf("%s: %s has no label %s", where, m[1], l[1])
				}
			}
			may = append(may, labels...)
		}
		for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				if !slices.Contains(may, name) {
					t.Errorf("%s: no metric has the label %s: %s", where, name, expr)
				}
			}
		}
	}
}

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	for _, a := range slices.Concat(alerts(t, "."), alerts(t, "recall")) {
		if !slices.Contains([]string{"P1", "P2"}, a.Labels["severity"]) || a.Annotations["summary"] == "" || a.Annotations["action"] == "" {
			t.Errorf("%s: %v %v", a.Alert, a.Labels, a.Annotations)
		}
	}
}

// TestAlertsFireAndStayQuietAsTheirTestsSay has Prometheus' own program judge.
func TestAlertsFireAndStayQuietAsTheirTestsSay(t *testing.T) {
	program := testparts.NeedProgram(t, "promtool", "it is in the Debian package prometheus")
	for _, folder := range folders {
		for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("promtool %v in %s: %v\n%s", args, folder, err, out)
			}
		}
	}
}

// TestEveryAlertIsTestedBothWays: there are series on which it fires, and others on which it does not.
func TestEveryAlertIsTestedBothWays(t *testing.T) {
	type file struct {
		Tests []struct {
			Rules []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	for _, folder := range folders {
		fires := map[string]bool{}
		quiet := map[string]bool{}
		for _, test := range readYAML[file](t, folder+"/alerts_test.yaml").Tests {
			for _, r := range test.Rules {
				fires[r.Alert] = fires[r.Alert] || len(r.Fires) > 0
				quiet[r.Alert] = quiet[r.Alert] || len(r.Fires) == 0
			}
		}
		for _, a := range alerts(t, folder) {
			if !fires[a.Alert] || !quiet[a.Alert] {
				t.Errorf("%s: fires %v, quiet %v", a.Alert, fires[a.Alert], quiet[a.Alert])
			}
		}
	}
}

func TestTheDashboardsAreAsGrafanaNeedsThem(t *testing.T) {
	for _, file := range []string{"dashboard.json", "recall/dashboard.json"} {
		b := readYAML[board](t, file)
		if b.UID == "" || b.SchemaVersion < 36 || b.Templating.List[0].Name != "datasource" || b.Templating.List[0].Type != "datasource" {
			t.Errorf("%s: %s, version %d, variables %v", file, b.UID, b.SchemaVersion, b.Templating.List)
		}
		ids := map[int]bool{}
		for i, p := range b.Panels {
			if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s, %s: id %d, place %v", file, p.Title, p.ID, p.GridPos)
			}
			ids[p.ID] = true
			for _, q := range b.Panels[:i] {
				if p.over(q) {
					t.Errorf("%s: %s lies over %s", file, p.Title, q.Title)
				}
			}
			if p.Type != "row" && p.Type != "state-timeline" && p.FieldConfig.Defaults.Unit == "" {
				t.Errorf("%s, %s: no unit", file, p.Title)
			}
			for _, target := range p.Targets {
				if target.Datasource.UID != "${datasource}" {
					t.Errorf("%s, %s: data of %q", file, p.Title, target.Datasource.UID)
				}
			}
		}
	}
}

// over tells whether one panel covers a part of the other.
func (p panel) over(q panel) bool {
	a := p.GridPos
	b := q.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func TestPrometheusReadsEveryQueryOfTheDashboards(t *testing.T) {
	program := testparts.NeedProgram(t, "promtool", "it is in the Debian package prometheus")
	rules := "groups:\n  - name: panels\n    rules:\n"
	for _, file := range []string{"dashboard.json", "recall/dashboard.json"} {
		for _, p := range readYAML[board](t, file).Panels {
			for i, target := range p.Targets { // each as a rule, with the variables as Grafana fills them in
				expr := strings.NewReplacer("$__rate_interval", "1m", "$server", ".*").Replace(target.Expr)
				rules += fmt.Sprintf("      - {record: 'panel:%d:%d:%s', expr: '%s'}\n", p.ID, i, file[:3], expr)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
