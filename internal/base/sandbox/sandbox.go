// Package sandbox runs a program that can use only the files and networks that it was given.
//
// Between the keeper and the program our own executable runs once more: it gives up what the
// program must not have, and becomes the program. Landlock restricts the files. A filter of
// system calls closes what Landlock leaves open: sockets of the machine, such as those of Docker
// and the session bus. The network is an empty namespace, or refused by the filter where the
// system does not let us make one. Where the system has no Landlock a program is not started.
//
//	rules := sandbox.Rules{Preset: "npx", Write: []string{"/srv/data"}}
//	err := rules.Confine(cmd, temporary)
//	err = cmd.Start()
package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Rules are what a program can use, beside what every program needs to run.
type Rules struct {
	Preset string   // npx, uvx, or "" for neither: what that runner of packages uses
	Read   []string // files and folders that it can read and execute
	Write  []string // files and folders that it can change as well
	Net    bool
}

// Presets are the names of presets.
var Presets = []string{"npx", "uvx"}

// system is what programs need to run. Of /etc and /proc it is what holds no secrets: a gateway
// that is root could read all of it, and command lines of other processes can be secret.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/run/current-system/sw",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives", "/etc/fonts", "/etc/static",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust",
	"/etc/ca-certificates", "/etc/crypto-policies", "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf",
	"/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/localtime",
	"/etc/timezone", "/etc/mime.types", "/etc/os-release", "/etc/locale.conf", "/etc/locale.alias", "/etc/inputrc", "/etc/terminfo",
	"/dev/zero", "/dev/random", "/dev/urandom",
	"/proc/self", "/proc/sys", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version",
	"/proc/filesystems", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
}

// grants returns what a program is given. What it reads may be absent.
func (r *Rules) grants(program, cwd string, env []string) (read, write []string, err error) {
	if read, err = existing(r.Read); err != nil {
		return nil, nil, err
	}
	if write, err = existing(r.Write); err != nil {
		return nil, nil, err
	}
	home := lookup(env, "HOME")
	private := []string{home}
	if dir, err := filepath.Abs(cwd); err == nil {
		private = append(private, dir)
	}
	if dir, err := os.UserHomeDir(); err == nil {
		private = append(private, dir)
	}
	private = append(private, resolved(private)...) // /home may be a link
	if r.Preset != "" && !filepath.IsAbs(home) {
		return nil, nil, fmt.Errorf("the preset %s of its sandbox needs the variable HOME", r.Preset)
	}
	write = append(write, caches(r.Preset, home, env)...)
	// What is in a folder that it can change has no effect, and when it ran before, it could have put a link to anything there.
	changed := resolved(write)
	nested := func(path string) bool {
		return !filepath.IsAbs(path) || slices.ContainsFunc(resolved(above(path)), func(dir string) bool { return inside(dir, changed) })
	}
	read = slices.Concat(read, system, settings(r.Preset, home, env))
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"} {
		read = append(read, lookup(env, name))
	}
	read = append(read, folder(program, private))
	if !nested(program) {
		if target, err := filepath.EvalSymlinks(program); err == nil {
			read = append(read, folder(target, private))
		}
	}
	if r.Preset == "npx" {
		read = append(read, node(lookup(env, "PATH"), private, nested)...)
	}
	return slices.DeleteFunc(read, nested), slices.DeleteFunc(slices.Clone(write), nested), nil
}

// existing returns the paths in full, or what is wrong with one.
func existing(paths []string) (full []string, err error) {
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s, which its sandbox names, cannot be used: %w", path, fault.Plain(err))
		}
		full = append(full, path)
	}
	return full, nil
}

// caches returns what a preset changes, and makes it, as the runner would itself.
func caches(preset, home string, env []string) (dirs []string) {
	switch preset {
	case "npx":
		dirs = []string{cmp.Or(lookup(env, "npm_config_cache"), lookup(env, "NPM_CONFIG_CACHE"), filepath.Join(home, ".npm"))}
	case "uvx":
		cache := cmp.Or(lookup(env, "XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
		data := cmp.Or(lookup(env, "XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
		dirs = []string{
			cmp.Or(lookup(env, "UV_CACHE_DIR"), filepath.Join(cache, "uv")), filepath.Join(data, "uv"),
			lookup(env, "UV_PYTHON_INSTALL_DIR"), lookup(env, "UV_TOOL_DIR"),
		}
	}
	for _, dir := range dirs {
		os.MkdirAll(dir, 0o700) // one that cannot be made is told by the runner
	}
	return dirs
}

// settings returns the files by which a runner is set up.
func settings(preset, home string, env []string) []string {
	switch preset {
	case "npx":
		own := cmp.Or(lookup(env, "npm_config_userconfig"), lookup(env, "NPM_CONFIG_USERCONFIG"), filepath.Join(home, ".npmrc"))
		return []string{own, "/etc/npmrc"}
	case "uvx":
		return []string{filepath.Join(cmp.Or(lookup(env, "XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "uv"), "/etc/uv"}
	}
	return nil
}

// offline are the variables by which a runner uses what it has in its cache, rather than wait for a network.
var offline = map[string]string{"npx": "npm_config_offline=true", "uvx": "UV_OFFLINE=1"}

// node returns what the first node in a list of folders needs, with npm beside it.
func node(list string, private []string, nested func(string) bool) []string {
	for _, dir := range filepath.SplitList(list) {
		link := filepath.Join(dir, "node")
		if path, err := filepath.EvalSymlinks(link); err == nil && !nested(link) {
			prefix := filepath.Dir(filepath.Dir(path))
			return []string{folder(path, private), filepath.Join(prefix, "lib", "node_modules"), filepath.Join(prefix, "etc", "npmrc")}
		}
	}
	return nil
}

// resolved returns those of the paths that exist, without links.
func resolved(paths []string) (all []string) {
	for _, path := range paths {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, target)
		}
	}
	return all
}

// above returns the folders that a path is in.
func above(path string) (dirs []string) {
	for dir := filepath.Dir(path); dir != path; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		path = dir
	}
	return dirs
}

// folder returns the folder of a program, or the program alone if a private folder is the same or in it.
func folder(program string, private []string) string {
	dir := filepath.Dir(program)
	if slices.ContainsFunc(private, func(p string) bool { return within(p, dir) }) {
		return program
	}
	return dir
}

// inside tells whether a path is in one of the folders or is one of them.
func inside(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}

// within tells whether a path is dir or in it.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}
