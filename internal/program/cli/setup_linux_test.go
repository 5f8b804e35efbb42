package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnATerminalSetupShowsThePlanAndAsksOnce(t *testing.T) {
	for answer, changed := range map[string]bool{"y": true, "YES": true, "n": false, "": false, "what?": false} {
		w := newWorld(t)
		const file = `{"mcpServers": {"a": {"command": "x"}}}`
		put(t, w.usual(t, "cursor"), file)
		code, shown := converse(t, w, []string{"setup", "--service", "none"}, map[string]string{"Go ahead? [y/N] ": answer})
		if code != 0 || strings.Count(shown, "Go ahead?") != 1 || !strings.Contains(shown, "replace these servers by toolfit in 1 file") ||
			(read(t, w.usual(t, "cursor")) != file) != changed || exists(w.ownConfig()) != changed {
			t.Errorf("%q: exit code %d; shown\n%s", answer, code, shown)
		}
	}
}

// fakeSystemctl is a systemctl that works, and writes down how it was called.
func fakeSystemctl(t *testing.T, script string) (calls string) {
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	put(t, filepath.Join(dir, "systemctl"), "#!/bin/sh\necho \"$@\" >> "+calls+"\n"+script)
	if err := os.Chmod(filepath.Join(dir, "systemctl"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return calls
}

func TestTheUnitIsRegisteredAndTakenBackWhereSystemdWorks(t *testing.T) {
	calls := fakeSystemctl(t, "")
	w := newWorld(t)
	put(t, w.usual(t, "cursor"), `{"mcpServers": {"a": {"command": "x"}}}`)
	unit := filepath.Join(w.home, ".config", "systemd", "user", unitName)
	if code, out, errs := w.run(t, "setup", "--yes"); code != 0 || !strings.Contains(out, "the gateway is started, now and when you sign in") ||
		!strings.Contains(read(t, unit), `ExecStart="/opt/toolfit/toolfit" "serve" "--config" "`+w.ownConfig()+`"`) {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if code, _, errs := w.run(t, "setup", "--undo"); code != 0 || exists(unit) || exists(filepath.Join(w.home, ".config", "systemd")) {
		t.Errorf("undo: %d %s", code, errs)
	}
	const want = "--user show-environment\n--user daemon-reload\n--user enable --now toolfit.service\n--user disable --now toolfit.service\n"
	if got := read(t, calls); got != want {
		t.Errorf("called\n%swant\n%s", got, want)
	}
}

func TestAUnitThatCannotBeRegisteredIsLeftToTheUser(t *testing.T) {
	for name, script := range map[string]string{"no systemd": "exit 1", "a refusal": `[ "$2" != enable ] || { echo "bad unit"; exit 1; }`} {
		fakeSystemctl(t, script)
		w := newWorld(t)
		put(t, w.usual(t, "cursor"), `{"mcpServers": {"a": {"command": "x"}}}`)
		code, out, errs := w.run(t, "setup", "--yes", "--service", "systemd")
		if code != 0 || !strings.Contains(out, "  systemctl --user enable --now toolfit.service\n") {
			t.Errorf("%s: %d\n%s%s", name, code, out, errs)
		}
		if name == "a refusal" && !strings.Contains(errs, "bad unit") {
			t.Errorf("it does not say why: %s", errs)
		}
	}
}
