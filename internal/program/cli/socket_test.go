package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestAGatewayIsFoundByItsConfigurationAndStore(t *testing.T) {
	w := newWorld(t)
	at := func(file, store string) string {
		t.Helper()
		c := &command{env: &Env{Lookup: w.lookup, Home: w.home}}
		path, err := c.socketPath(&config.Config{Path: file, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ours := at("toolfit.yaml", filepath.Join(folder, "toolfit.db"))
	if state := stateFolder(runtime.GOOS, &Env{Lookup: w.lookup, Home: w.home}); inbound.CanIdentifySocket && filepath.Dir(ours) != folder ||
		!inbound.CanIdentifySocket && filepath.Dir(ours) != state {
		t.Errorf("it lies at %s", ours)
	}
	if got := at(filepath.Join(folder, "toolfit.yaml"), filepath.Join(folder, "toolfit.db")); got != ours {
		t.Errorf("by its whole path it lies at %s, else at %s", got, ours)
	}
	if err := os.Symlink(folder, filepath.Join(w.home, "link")); err == nil {
		if got := at(filepath.Join(w.home, "link", "toolfit.yaml"), filepath.Join(folder, "toolfit.db")); got != ours {
			t.Errorf("by a link it lies at %s, else at %s", got, ours)
		}
	}
	for name, other := range map[string]string{
		"another configuration": at("other.yaml", filepath.Join(folder, "toolfit.db")),
		"another store":         at("toolfit.yaml", filepath.Join(folder, "other.db")),
		"a store elsewhere":     at("toolfit.yaml", filepath.Join(w.home, "toolfit.db")),
	} {
		if other == ours {
			t.Errorf("%s has the same socket", name)
		}
	}
	const database = "postgres://u:hunter2@db/toolfit"
	if got := at("toolfit.yaml", database); !strings.HasPrefix(got, w.home) || got == at("toolfit.yaml", database+"2") ||
		got == at("other.yaml", database) {
		t.Errorf("with a database it lies at %s", got)
	}
	w.home = ""
	if got := at("toolfit.yaml", database); got != "" {
		t.Errorf("without a home it lies at %s", got)
	}
}
