package config

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"
)

// windowsPath is a path with a drive, or one that a shell has taken the backslashes from.
var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]|^[A-Za-z]:[^/\\]*\.(exe|cmd|bat|ps1)$|^\.{1,2}\\`)

// WindowsHint says what is wrong with the paths of Windows in a server that cannot start: they
// were read as something else, or this is another system. "" for none.
func (s *Server) WindowsHint() string { return s.windowsHint(runtime.GOOS) }

func (s *Server) windowsHint(system string) string {
	for _, path := range append([]string{s.Command, filepath.Base(s.Cwd)}, s.Args...) { // Cwd starts at the file's folder
		drive := windowsPath.MatchString(path)
		switch i := strings.IndexFunc(path, unicode.IsControl); {
		case i >= 0 && (path == s.Command || strings.HasPrefix(path[1:], ":")):
			return fmt.Sprintf(`%q has a control character where a backslash was meant: write \\ for each \ between double quotes, or put the path between single quotes in YAML`, path)
		case drive && !strings.ContainsAny(path, `/\`):
			return fmt.Sprintf("%s has lost its backslashes to the shell: put the path in quotes", path)
		case drive && system != "windows":
			return fmt.Sprintf("%s is a path of Windows; write one of this system%s", path, underWSL(path))
		}
	}
	return ""
}

// underWSL is where Linux on Windows sees a path with a drive.
func underWSL(path string) string {
	if runtime.GOOS != "linux" || path[1] != ':' {
		return ""
	}
	return fmt.Sprintf(" (in WSL /mnt/%s%s)", strings.ToLower(path[:1]), strings.ReplaceAll(path[2:], `\`, "/"))
}

// portable is a server of a client on Windows as other systems start it: there is no cmd to
// start npx by, and programs have no endings.
func portable(s *Server, system string) {
	if _, err := exec.LookPath(s.Command); system == "windows" || err == nil { // WSL has some of them
		return
	}
	if ProgramName(s.Command) == "cmd" && len(s.Args) > 1 && strings.EqualFold(s.Args[0], "/c") {
		s.Command, s.Args = s.Args[1], s.Args[2:]
	}
	if ending := programEnding.FindString(s.Command); !strings.ContainsAny(s.Command, `/\`) {
		s.Command = strings.TrimSuffix(s.Command, ending)
	}
}

var programEnding = regexp.MustCompile(`(?i)\.(exe|cmd|bat)$`)

// ProgramName is what a command starts, whatever its folder, system and case: npx for
// C:\nodejs\NPX.CMD.
func ProgramName(command string) string {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.ToLower(programEnding.ReplaceAllString(base, ""))
}
