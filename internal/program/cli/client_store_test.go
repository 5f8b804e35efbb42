package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStoreOfAClientsFileIsInTheUsersStateFolder(t *testing.T) {
	w := newWorld(t)
	state := filepath.Join(w.home, "state", "toolfit")
	w.vars["XDG_STATE_HOME"], w.vars["LOCALAPPDATA"] = filepath.Dir(state), filepath.Dir(state)
	stores := func() (names []string) {
		found, err := filepath.Glob(filepath.Join(state, "*.db"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, path := range []string{"one/mcp.json", "two/mcp.json", "old/mcp.json"} {
		put(t, path, `{"mcpServers": {}}`)
	}
	put(t, "old/toolfit.db", "") // a new SQLite file is an empty one

	if _, out, _ := w.run(t, "doctor", "--config", "one/mcp.json"); !strings.Contains(out, "will be created on the first start") {
		t.Errorf("doctor says\n%s", out)
	}
	if len(stores()) != 0 {
		t.Error("doctor made a store")
	}
	for path, want := range map[string]int{"one/mcp.json": 1, "./one/../one/mcp.json": 1} {
		if code, _, errs := w.run(t, "keys", "list", "--config", path); code != 0 || len(stores()) != want {
			t.Errorf("%s: exit code %d, stores %q, said %s", path, code, stores(), errs)
		}
	}
	if code, _, errs := w.run(t, "tools", "--config", "two/mcp.json"); code != 0 || len(stores()) != 2 {
		t.Errorf("a file of the same name elsewhere: exit code %d, stores %q, said %s", code, stores(), errs)
	}
	if code, _, errs := w.run(t, "keys", "list", "--config", "old/mcp.json"); code != 0 || len(stores()) != 2 {
		t.Errorf("one that is there goes on being used: exit code %d, stores %q, said %s", code, stores(), errs)
	}
	for _, dir := range []string{"one", "two"} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("the client's folder %s holds %v, %v", dir, left, err)
		}
	}
	if info, err := os.Stat("old/toolfit.db"); err != nil || info.Size() == 0 {
		t.Errorf("the old store was not used: %v, %v", info, err)
	}
}
