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

// windowsPath is a path with a drive, or one that lost its backslashes to a shell.
var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]|^[A-Za-z]:[^/\\]*\.(exe|cmd|bat|ps1)$|^\.{1,2}\\`)

// WindowsHint says what is wrong with the Windows paths of a server that cannot start: wrong
// escapes, or another system. "" for none.
func (s *Server) WindowsHint() string { return s.windowsHint(runtime.GOOS) }

func (s *Server) windowsHint(system string) string {
	for _, path := range append([]string{s.Command, filepath.Base(s.Cwd)}, s.Args...) { // Cwd starts at the file's folder
		drive := windowsPath.MatchString(path)
		switch i := strings.IndexFunc(path, unicode.IsControl); {
		case i >= 0 && (path == s.Command || strings.HasPrefix(path[1:], ":")):
			return fmt.Sprintf(`%q has a control character where a backslash was meant: `+
				`write \\ for each \ between double quotes, or put the path between single quotes in YAML`, path)
		case drive && !strings.ContainsAny(path, `/\`):
			return fmt.Sprintf("%s has lost its backslashes to the shell: put the path in quotes", path)
		case drive && system != "windows":
			return fmt.Sprintf("%s is a path of Windows; write one of this system%s", path, underWSL(path))
		}
	}
	return ""
}

// underWSL returns the path in the Windows Subsystem for Linux.
func underWSL(path string) string {
	if runtime.GOOS != "linux" || path[1] != ':' {
		return ""
	}
	return fmt.Sprintf(" (in WSL /mnt/%s%s)", strings.ToLower(path[:1]), strings.ReplaceAll(path[2:], `\`, "/"))
}

// portable changes a server of a client on Windows for other systems: no cmd, and no extensions
// of programs.
func portable(s *Server, system string) {
	if _, err := exec.LookPath(s.Command); system == "windows" || err == nil { // WSL has some of them
		return
	}
	if ProgramName(s.Command) == "cmd" && len(s.Args) > 1 && strings.EqualFold(s.Args[0], "/c") {
		s.Command = s.Args[1]
		s.Args = s.Args[2:]
	}
	if ending := programEnding.FindString(s.Command); !strings.ContainsAny(s.Command, `/\`) {
		s.Command = strings.TrimSuffix(s.Command, ending)
	}
}

var programEnding = regexp.MustCompile(`(?i)\.(exe|cmd|bat)$`)

// ProgramName returns the program of a command without folder and extension, in lower case: npx
// for C:\nodejs\NPX.CMD.
func ProgramName(command string) string {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.ToLower(programEnding.ReplaceAllString(base, ""))
}
