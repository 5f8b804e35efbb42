package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/program/cli"
)

// TestExamplesOfPoliciesDecideAsTheirCasesSay runs policy test over examples/policy. Each rule there has a case that it decides.
func TestExamplesOfPoliciesDecideAsTheirCasesSay(t *testing.T) {
	files, err := filepath.Glob("../../../examples/policy/*.test.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		rules := strings.TrimSuffix(file, ".test.yaml") + ".yaml"
		var out bytes.Buffer
		env := &cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Lookup: func(string) (string, bool) { return "", false }}
		if code := cli.Run(t.Context(), []string{"policy", "test", file, "--config", rules}, env); code != 0 {
			t.Errorf("%s: exit %d: %s", file, code, out.String())
		}
		text, err := os.ReadFile(rules)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`(?m)^  - name: (\S+)$`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(string(cases), "rule: "+name[1]) {
				t.Errorf("%s: no case is about the rule %s", file, name[1])
			}
		}
	}
}
