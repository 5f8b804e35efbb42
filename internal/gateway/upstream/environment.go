package upstream

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// inherited are the variables that every server gets: what programs need to run. Others may be credentials.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP", "XDG_*",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"SSL_CERT_*", "NODE_EXTRA_CA_CERTS",
}

// ofKnown are the variables by which known servers find their files. All servers get them: recognition comes after the start.
var ofKnown = sync.OnceValue(func() (names []string) {
	for _, k := range knownServers() {
		names = append(names, k.Inherit...)
	}
	return names
})

// ofWindows are the variables that programs on Windows need.
var ofWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "COMPUTERNAME", "PROCESSOR_*", "NUMBER_OF_PROCESSORS",
	"APPDATA", "LOCALAPPDATA", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH", "PUBLIC", "ALLUSERSPROFILE",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PROGRAMDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
}

// ofRunners are the settings of the programs that start servers, which include private registries and their passwords.
var ofRunners = []string{"npm_config_*", "NPM_CONFIG_*", "UV_*"}

// usualName is a variable that a program may look for; shells keep others for themselves.
var usualName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// ofShells are the shells' own variables with usual names.
var ofShells = []string{"PWD", "OLDPWD", "SHLVL"}

// environment is what a server's process gets: inherited variables and those of its configuration. It also returns the withheld names.
func environment(cfg config.Server) (env, withheld []string) {
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch _, given := cfg.Env[name]; {
		case given || name == "":
		case passes(name, value, cfg.Inherit, runtime.GOOS == "windows"):
			env = append(env, kv)
		// Variables that begin with TOOLFIT_ are for this program only.
		case !strings.HasPrefix(name, "TOOLFIT_") && usualName.MatchString(name) && !slices.Contains(ofShells, name):
			withheld = append(withheld, name)
		}
	}
	for k, v := range cfg.Env {
		env = append(env, k+"="+v)
	}
	return env, withheld
}

// passes tells whether a server inherits a variable.
func passes(name, value string, inherit []string, windows bool) bool {
	fits := func(globs []string) bool {
		return slices.ContainsFunc(globs, func(glob string) bool {
			if windows { // variable names are case-insensitive
				return tool.Match(strings.ToUpper(glob), strings.ToUpper(name))
			}
			return tool.Match(glob, name)
		})
	}
	switch {
	case strings.HasPrefix(name, "TOOLFIT_"):
		return slices.Contains(inherit, name)
	case fits(inherit) || fits(inherited) || fits(ofKnown()) || windows && fits(ofWindows):
		return true
	case fits(ofRunners):
		u, err := url.Parse(value)
		return !config.IsSecretName(name) && (err != nil || u.User == nil)
	}
	return false
}

// maxWithheld limits how many variables withheldHint names.
const maxWithheld = 5

// withheldHint names the variables that a failed server did not get, the likeliest first: mentioned by it, like its name, secret.
func withheldHint(cfg config.Server, withheld []string, said string) string {
	if len(withheld) == 0 {
		return ""
	}
	about := config.Words(string(cfg.ID) + " " + cfg.Command + " " + strings.Join(cfg.Args, " "))
	rank := func(name string) int {
		switch {
		case len(name) > 3 && strings.Contains(said, name):
			return 0
		case slices.ContainsFunc(config.Words(name), func(w string) bool { return len(w) > 2 && slices.Contains(about, w) }):
			return 1
		case config.IsSecretName(name):
			return 2
		}
		return 3
	}
	names := slices.SortedFunc(slices.Values(withheld), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	shown := strings.Join(names[:min(len(names), maxWithheld)], ", ")
	if more := len(names) - maxWithheld; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("of our environment it was not given %s; if it needs one, add to %s: inherit: [%s]", shown, cfg.ID, names[0])
}
