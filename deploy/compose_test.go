package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const example = "../examples/compose/"

func TestTheComposeExampleMountsFilesThatThereAre(t *testing.T) {
	services, _ := readYAML[map[string]any](t, example+"compose.yaml")["services"].(map[string]any)
	var mounted []string
	for name, s := range services {
		volumes, _ := at(s, "volumes").([]any)
		for _, v := range volumes {
			from, rest, _ := strings.Cut(v.(string), ":")
			if !strings.HasPrefix(from, ".") {
				continue
			}
			mounted = append(mounted, filepath.Base(from))
			if _, err := os.Stat(example + from); err != nil || !strings.HasSuffix(rest, ":ro") {
				t.Errorf("%s mounts %s: %v", name, v, err)
			}
		}
		ports, _ := at(s, "ports").([]any)
		for _, p := range ports {
			if !strings.HasPrefix(p.(string), "127.0.0.1:") {
				t.Errorf("%s is open to the network: %v", name, p)
			}
		}
	}
	for _, file := range []string{"gateway", "prometheus.yaml", "alerts.yaml", "dashboard.json", "datasource.yaml", "dashboards.yaml"} {
		if !slices.Contains(mounted, file) {
			t.Errorf("%s is not used", file)
		}
	}
}

// TestTheComposeExamplesGatewaysKnowEachOther: each has its own address, which is where Prometheus and Docker find it.
func TestTheComposeExamplesGatewaysKnowEachOther(t *testing.T) {
	services, _ := readYAML[map[string]any](t, example+"compose.yaml")["services"].(map[string]any)
	targets, _ := at(readYAML[map[string]any](t, example+"prometheus.yaml"), "scrape_configs", 0, "static_configs", 0, "targets").([]any)
	if len(targets) != 2 {
		t.Fatalf("targets %v", targets)
	}
	for _, target := range targets {
		name, _, _ := strings.Cut(target.(string), ":")
		if got := at(services[name], "environment", "TOOLFIT_REPLICA_URL"); got != "http://"+target.(string) {
			t.Errorf("%s: %v", target, got)
		}
	}
	env := map[string]string{"TOOLFIT_STORE": "postgres://toolfit:x@postgres/toolfit"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, err := config.Parse("toolfit.yaml", read(t, example+"gateway/toolfit.yaml"), lookup)
	if err != nil || cfg.Listen != "0.0.0.0:8420" || cfg.Store != env["TOOLFIT_STORE"] || len(cfg.Servers) == 0 {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestPrometheusReadsTheComposeExample(t *testing.T) {
	program := testparts.NeedProgram(t, "promtool", "it is in the Debian package prometheus")
	dir := t.TempDir() // as it is mounted
	key := filepath.Join(dir, "key")
	text := regexp.MustCompile(`/run/secrets/[\w-]+`).ReplaceAllLiteral(read(t, example+"prometheus.yaml"), []byte(key))
	for name, data := range map[string][]byte{"prometheus.yml": text, "alerts.yaml": read(t, "alerts.yaml"), "key": []byte("tf_x")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, "check", "config", filepath.Join(dir, "prometheus.yml")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "rules found") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestComposeReadsTheExample has Docker Compose itself read the file; it needs no engine for that.
func TestComposeReadsTheExample(t *testing.T) {
	compose := built(t, "docker-compose")
	check := func(file string, env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), compose, "--env-file", os.DevNull, "-f", file, "config", "--quiet")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	keys := []string{"TOOLFIT_ADMIN_KEY=tf_x", "TOOLFIT_SECRET_KEY=y", "POSTGRES_PASSWORD=z"}
	for _, file := range []string{example + "compose.yaml", "../examples/observability/compose.yaml"} {
		if out, err := check(file, keys...); err != nil || out != "" {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if out, err := check(example + "compose.yaml"); err == nil || !strings.Contains(out, "see the first lines of compose.yaml") {
		t.Errorf("without keys: %v\n%s", err, out)
	}
}
