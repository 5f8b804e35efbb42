package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// tree returns all commands by path, without toolfit, and those of cobra.
func tree(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		all[strings.TrimPrefix(cmd.CommandPath(), "toolfit ")] = cmd
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&command{env: &Env{}}).root())
	return all
}

func TestWhatIsCompletedExists(t *testing.T) {
	all := tree(t)
	for path := range completedArguments {
		if all[path] == nil {
			t.Errorf("there is no command %s", path)
		}
	}
	for key := range completedFlags {
		found := false
		for path, cmd := range all {
			found = found || cmd.LocalFlags().Lookup(strings.TrimPrefix(key, path+" --")) != nil
		}
		if !found {
			t.Errorf("no command has a flag %s", key)
		}
	}
}

// TestEveryNamedArgumentIsCompleted holds that no argument is forgotten in the table: those in capitals in the usage.
func TestEveryNamedArgumentIsCompleted(t *testing.T) {
	free := map[string]bool{ // what only the person knows
		"add": true, "connections set": true, "connections unset": true, "keys create": true, "people list": true, "recall": true,
		"recipes save": true, "search": true, "tools": true,
	}
	for path, cmd := range tree(t) {
		_, takes, _ := strings.Cut(cmd.Use, " ")
		takes, _, _ = strings.Cut(takes, " [-- COMMAND")
		if takes != "" && takes != "[-- COMMAND…]" && completedArguments[path] == nil && !free[path] {
			t.Errorf("%s takes %s, and nothing says how that is completed", path, takes)
		}
	}
}

func TestNoValueIsCompletedThatAShellWouldRun(t *testing.T) {
	w := &wanted{}
	for _, value := range []string{"$(id)a", "`id`", "a;id", "a|id", "a&id", ">a", "<(id)", `a\`, `"a`, "'a", "a b", "a\tb", "a\nb", "\x1b[31m", "!a", "\u202ea"} {
		w.add(value, "")
	}
	if len(w.found) > 0 {
		t.Errorf("completed: %q", w.found)
	}
	for _, value := range []string{"files__read_file", "path=", "limit:=", "junit=", "key:ann", "ann@example.com", "查询", "x-y.z/1"} {
		w.add(value, "tells $(id)\nmore")
	}
	if len(w.found) != 8 || w.found[0] != "files__read_file\ttells $(id) more" {
		t.Errorf("completed: %q", w.found)
	}
}
