package cli

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/state/config"
)

// What starts the gateway when the user signs in.
const (
	bySystemd = "systemd"
	byLaunchd = "launchd"
	byTask    = "task" // of Windows
	byNobody  = "none"
)

// service is how the gateway is started.
type service struct {
	Kind  string   `json:"kind"`
	File  string   `json:"file,omitempty"`  // of its description
	Text  string   `json:"text,omitempty"`  // of the description
	Lines []string `json:"lines"`           // commands that register or start it
	Works bool     `json:"works"`           // the lines can be run here
	Error string   `json:"error,omitempty"` // why they failed
}

// unitName is the name of our unit of systemd.
const unitName = "toolfit.service"

// newService is the service of a kind; "" for that of the system. An absolute path of the
// configuration is needed.
func (c *command) newService(ctx context.Context, system, kind, path string) (service, error) {
	works := system == "linux" && (kind == "" || kind == bySystemd) && systemdWorks(ctx)
	if kind == "" {
		kind = map[string]string{"darwin": byLaunchd, "windows": byTask}[system]
		if works {
			kind = bySystemd
		}
	}
	search, _ := c.env.Lookup("PATH")
	args := []string{c.env.Program, "serve", "--config", path}
	switch kind {
	case bySystemd:
		file := filepath.Join(c.folders()["config"], "systemd", "user", unitName)
		return service{
			Kind: kind, File: onlyOn(system, "linux", file), Text: systemdUnit(args, search), Works: works,
			Lines: []string{"systemctl --user daemon-reload", "systemctl --user enable --now " + unitName},
		}, nil
	case byLaunchd:
		file := filepath.Join(c.env.Home, "Library", "LaunchAgents", "toolfit.plist")
		return service{
			Kind: kind, File: onlyOn(system, "darwin", file), Text: launchdAgent(args, search),
			Lines: []string{shell.Join([]string{"launchctl", "load", "-w", file})},
		}, nil
	case byTask:
		return service{Kind: kind, Lines: []string{windowsTask(args), "schtasks /Run /TN toolfit"}}, nil
	case "", byNobody:
		line := []string{"toolfit", "serve"}
		if c.defaultConfig() != path {
			line = append(line, "--config", path)
		}
		return service{Kind: byNobody, Lines: []string{shell.Join(line)}}, nil
	}
	return service{}, usage("--service %q: expected systemd, launchd, task or none", kind)
}

// onlyOn is the file on its own system, and none on others, where the text is only shown.
func onlyOn(system, own, file string) string {
	if system != own {
		return ""
	}
	return file
}

// systemdWorks tells whether a manager of the user's units runs.
func systemdWorks(ctx context.Context) bool { return systemctl(ctx, "show-environment") == nil }

func systemctl(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl --user %s: %s", strings.Join(args, " "), cmp.Or(strings.TrimSpace(string(out)), err.Error()))
	}
	return nil
}

// register runs the lines of a service that works here.
func (s service) register(ctx context.Context) error {
	if err := systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	return systemctl(ctx, "enable", "--now", unitName)
}

// systemdUnit describes the gateway for systemd. The variable PATH is as it is now, for that of a
// unit lacks the folders in which npx and uvx often lie.
func systemdUnit(args []string, search string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = systemdQuote(arg)
		if i > 0 { // variables are filled in after the program
			words[i] = strings.ReplaceAll(words[i], "$", "$$")
		}
	}
	return `[Unit]
Description=toolfit gateway between agents and tools

[Service]
ExecStart=` + strings.Join(words, " ") + `
Environment=` + systemdQuote("PATH="+search) + `
Restart=on-failure
RestartSec=5
TimeoutStopSec=40

[Install]
WantedBy=default.target
`
}

func systemdQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

func launchdAgent(args []string, search string) string {
	text := func(s string) string {
		var b strings.Builder
		xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
		return "<string>" + b.String() + "</string>"
	}
	var words []string
	for _, arg := range args {
		words = append(words, "    "+text(arg))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>toolfit</string>
  <key>ProgramArguments</key>
  <array>
` + strings.Join(words, "\n") + `
  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key>` + text(search) + `</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
`
}

// windowsTask is the command that makes Windows start the gateway when the user signs in.
func windowsTask(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if strings.ContainsAny(arg, " \t") {
			words[i] = `\"` + arg + `\"`
		}
	}
	return `schtasks /Create /TN toolfit /SC ONLOGON /TR "` + strings.Join(words, " ") + `"`
}

// variablesOf are the servers that have a ${VAR}, whose value a service does not get from a shell.
func variablesOf(servers []config.Server) (names []string) {
	for _, s := range servers {
		values := slices.Concat(s.Args, []string{s.Command, s.URL, s.Cwd})
		for _, m := range []map[string]string{s.Env, s.Headers} {
			for _, v := range m {
				values = append(values, v)
			}
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ReplaceAll(v, "${file:", ""), "${") }) {
			names = append(names, string(s.ID))
		}
	}
	return names
}
