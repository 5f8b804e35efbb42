package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestSkillsOfSeveralServers holds that the SDK's own client takes the skills of the SDK's own servers for valid, in both eras: it
// refuses a list with one invalid entry, and a file whose digest, size or frontmatter is not that of the entry. The official
// scenarios pass, too.
func TestSkillsOfSeveralServers(t *testing.T) {
	node := testparts.Need(t)
	server := nodeScript(t, node, "skills-server.mjs")
	client := nodeScript(t, node, "skills-client.mjs")
	text := "mcpServers:\n"
	for _, id := range []string{"files", "old", "hub"} {
		text += "  " + id + ": " + entry([]string{node.Program(), server, id}) + "\n"
	}
	g := serve(t, write(t, text))
	for _, scenario := range []string{"directory", "enumeration", "manifest"} {
		out, results, err := suite(t, node, newSuite, nil, "server", "--url", g.url+"/mcp", "--scenario", "sep-2640-skills-"+scenario)
		if passed, failed := checks(t, results); err != nil || passed < 6 || len(failed) > 0 {
			t.Errorf("%s: %v, %d checks passed\n%s", scenario, err, passed, out)
		}
	}
	const unlisted = "skill://hub/github/acme/tools/secret/SKILL.md"
	for _, mode := range []string{"modern", "legacy"} {
		cmd := exec.Command(node.Program(), client, g.url+"/mcp", mode, unlisted)
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", mode, err, problems.String())
		}
		var got struct {
			Supported   bool
			Found       map[string]map[string]string
			Directories map[string][]string
			Resources   []string
			Errors      []any
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if !got.Supported || len(got.Found) != 6 || len(got.Resources) == 0 {
			t.Errorf("%s: %s", mode, out)
		}
		for _, id := range []string{"files", "old"} {
			dir := "skill://" + id + "/git-workflow"
			files := got.Found[dir+"/SKILL.md"]
			if len(files) != 3 || files[dir+"/references/GUIDE.md"] != "true Rebase with "+id+".\r\n" || files[dir+"/assets/logo.bin"] != "true bytes" {
				t.Errorf("%s: %s has %q", mode, dir, files)
			}
		}
		if files := got.Found["skill://hub/github/acme/tools/deploy/SKILL.md"]; files["skill://hub/github/acme/tools/deploy/run.sh"] != "true echo hub\n" {
			t.Errorf("%s: of another scheme: %q", mode, files)
		}
		if files := got.Found[unlisted]; len(files) != 1 || files[unlisted][:5] != "false" {
			t.Errorf("%s: unlisted: %q", mode, files)
		}
		want := []string{"skill://files/git-workflow/SKILL.md", "skill://files/git-workflow/assets", "skill://files/git-workflow/references"}
		if list := got.Directories["skill://files/git-workflow"]; !slices.Equal(list, want) {
			t.Errorf("%s: in a directory: %q", mode, list)
		}
		for _, code := range got.Errors {
			if code != -32602.0 {
				t.Errorf("%s: unknown skills are answered with %v", mode, got.Errors)
			}
		}
	}
}
