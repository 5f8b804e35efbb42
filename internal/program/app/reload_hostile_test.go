//go:build unix

package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
)

func TestAPipeInPlaceOfAFileIsRefusedAndReloadGoesOn(t *testing.T) {
	cases := map[string]func(path, pipe string) error{
		"the configuration itself": func(path, pipe string) error { return os.Rename(pipe, path) },
		"a link to the pipe": func(path, pipe string) error {
			return os.Rename(mustLink(pipe, path+".link"), path)
		},
		"a file that it names": func(path, pipe string) error {
			return os.WriteFile(path, []byte(one+"publicURL: ${file:"+pipe+"}\n"), 0o600)
		},
	}
	for name, swap := range cases {
		t.Run(name, func(t *testing.T) {
			a, log := start(t, one)
			again := watch(t, a)
			path := a.Config().Path
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := swap(path, pipe); err != nil {
				t.Fatal(err)
			}
			again <- nil
			log.wait(t, "not a regular file", 1)
			if got := a.Config().Servers; len(got) != 1 {
				t.Errorf("in force: %+v", got)
			}
			put(t, path, two)
			log.wait(t, `msg="configuration reloaded" added=cloud`, 1)
		})
	}
}

func mustLink(to, at string) string {
	if err := os.Symlink(to, at); err != nil {
		panic(err)
	}
	return at
}

func TestAFileThatWasCutOffChangesNothing(t *testing.T) {
	const whole = "store: t.db\nmcpServers:\n  shop: {builtin: demo-shop}\n  cloud:\n    builtin: demo-cloud\n    concurrency: " +
		"100\nprofiles:\n  default:\n    servers: [shop]\n    tools:\n      allow: [shop__list_orders]\n"
	a, log := start(t, whole)
	again := watch(t, a)
	refused := 0
	for _, end := range []string{"concurrency: 10", "builtin: demo-clou", "concurrency:", "profiles:\n", "default:\n", "servers: ",
		"tools:\n", "allow: [", "allow:"} {
		put(t, a.Config().Path, whole[:strings.Index(whole, end)+len(end)])
		again <- nil
		refused++
		log.wait(t, "configuration refused, the old one stays in force", refused)
	}
	if p := a.Config().Profiles[0]; len(p.Servers) != 1 || len(p.Allow) != 1 || a.Config().Servers[1].Concurrency != 100 {
		t.Errorf("in force: %+v, %+v", p, a.Config().Servers[1])
	}
	put(t, a.Config().Path, two)
	log.wait(t, "configuration reloaded", 1)
}

func TestWatchingEndsWhileAReloadHangs(t *testing.T) {
	a, log := start(t, one)
	ctx, stop := context.WithCancel(t.Context())
	hangs := make(chan struct{})
	release := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Watch(ctx, nil, func() (*config.Config, error) {
			close(hangs)
			<-release
			return config.Parse(a.Config().Path, []byte(two), variable)
		})
	}()
	<-hangs
	stop()
	<-ended
	close(release)
	if strings.Contains(log.String(), "configuration reloaded") {
		t.Error("it was put in force after the end")
	}
}
