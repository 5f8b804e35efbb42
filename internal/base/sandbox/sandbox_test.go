//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWhatAProgramIsGiven(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(path string) string { return filepath.Join(root, path) }
	for _, path := range []string{
		"home/run", "home/tools/run", "work/run", "nvm/v22/bin/node", "nvm/v22/lib/node_modules/npm/bin/npx-cli.js", "work/data/run",
	} {
		if err := os.MkdirAll(filepath.Dir(in(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(path), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"nvm/v22/bin/npx": "../lib/node_modules/npm/bin/npx-cli.js", "work/data/link": in("home/tools/run"), "person": in("home"),
		"shared": in("work/data"),
	} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	usual := []string{"HOME=" + in("home"), "PATH=" + in("work") + ":" + in("nvm/v22/bin")}
	for _, c := range []struct {
		name, program string
		rules         Rules
		env           []string
		read, write   []string // beside what every program needs, from root
	}{
		{"its own folder", "home/tools/run", Rules{}, nil, []string{"home/tools", "home/tools"}, nil},
		{"not the home, for a program in it", "home/run", Rules{}, nil, []string{"home/run", "home/run"}, nil},
		{"not a home that is a link", "person/run", Rules{}, []string{"HOME=" + in("person")}, []string{"person/run", "home/run"}, nil},
		{"not the working folder either", "work/run", Rules{}, nil, []string{"work/run", "work/run"}, nil},
		{"nothing by a link that it could have made", "work/data/link", Rules{Write: []string{in("work/data")}}, nil, []string{"work/data"},
			[]string{"work/data"}},
		{"nothing within what it can write", "work/run", Rules{Read: []string{in("work/data/run")}, Write: []string{in("work/data")}}, nil,
			[]string{"work/run", "work/run"}, []string{"work/data"}},
		{"nothing by such a link in a folder that has two names", "work/data/link",
			Rules{Read: []string{in("work/data/link")}, Write: []string{in("shared")}}, nil, []string{"work/data"}, []string{"shared"}},
		{"npx: settings, cache, and node's own prefix", "nvm/v22/bin/npx", Rules{Preset: "npx"}, nil, []string{
			"home/.npmrc", "nvm/v22/bin", "nvm/v22/lib/node_modules/npm/bin", "nvm/v22/bin", "nvm/v22/lib/node_modules", "nvm/v22/etc/npmrc",
		}, []string{"home/.npm"}},
		{"npx: another cache", "nvm/v22/bin/npx", Rules{Preset: "npx"}, []string{"npm_config_cache=" + in("cache")}, []string{
			"home/.npmrc", "nvm/v22/bin", "nvm/v22/lib/node_modules/npm/bin", "nvm/v22/bin", "nvm/v22/lib/node_modules", "nvm/v22/etc/npmrc",
		}, []string{"cache"}},
		{"uvx: settings, cache, and Pythons", "home/tools/run", Rules{Preset: "uvx"}, nil,
			[]string{"home/.config/uv", "home/tools", "home/tools"}, []string{"home/.cache/uv", "home/.local/share/uv"}},
		{"uvx: another cache and other folders", "home/tools/run", Rules{Preset: "uvx"},
			[]string{"UV_CACHE_DIR=" + in("cache"), "XDG_DATA_HOME=" + in("share"), "UV_TOOL_DIR=" + in("tools")},
			[]string{"home/.config/uv", "home/tools", "home/tools"}, []string{"cache", "share/uv", "tools"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, write, err := c.rules.grants(in(c.program), in("work"), slices.Concat(usual, c.env))
			if err != nil {
				t.Fatal(err)
			}
			own := func(paths []string) (own []string) {
				for _, path := range paths {
					if rest, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rest) {
						own = append(own, rest)
					}
				}
				return own
			}
			if got := own(read); !slices.Equal(got, c.read) {
				t.Errorf("reads %v, want %v", got, c.read)
			}
			if got := own(write); !slices.Equal(got, c.write) {
				t.Errorf("writes %v, want %v", got, c.write)
			}
			for _, dir := range write {
				if _, err := os.Stat(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, _, err := (&Rules{Preset: "npx"}).grants(in("home/run"), "", nil); err == nil {
		t.Error("a preset knows a home that nobody told it")
	}
}
