package config

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestPathsOfWindowsAreExplained(t *testing.T) {
	for name, c := range map[string]struct {
		s      Server
		system string
		want   string
	}{
		"a path with a drive elsewhere": {Server{Command: `C:\tools\my server.exe`}, "linux", `C:\tools\my server.exe is a path of Windows`},
		"the same on Windows":           {Server{Command: `C:\tools\my server.exe`}, "windows", ""},
		"an argument": {Server{Command: "node", Args: []string{"-x", `D:/a/b.js`}}, "darwin",
			`D:/a/b.js is a path of Windows`},
		"a relative one": {Server{Command: `.\server.exe`}, "linux", "is a path of Windows"},
		"a folder":       {Server{Command: "node", Cwd: `/etc/toolfit/C:\x`}, "linux", `C:\x is a path of Windows`},
		"escapes of YAML": {Server{Command: "C:\tools\new.exe"}, "windows",
			`"C:\tools\new.exe" has a control character where a backslash was meant`},
		"escapes in an argument":         {Server{Command: "node", Args: []string{"C:\new.js"}}, "linux", "control character"},
		"an argument of lines":           {Server{Command: "sh", Args: []string{"-c", "a\nb"}}, "linux", ""},
		"backslashes taken by the shell": {Server{Command: "C:toolsserver.exe"}, "linux", "has lost its backslashes to the shell"},
		"other text":                     {Server{Command: "npx", Args: []string{"-y", "a:b", "http://x", "", "x"}}, "linux", ""},
	} {
		if got := c.s.windowsHint(c.system); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if runtime.GOOS == "linux" {
		if got := (&Server{Command: `C:\a b\x.exe`}).windowsHint("linux"); !strings.HasSuffix(got, "(in WSL /mnt/c/a b/x.exe)") {
			t.Errorf("got %q", got)
		}
	}
}

func TestACommandWithBlanksInItsPathIsNotTakenApart(t *testing.T) {
	for command, apart := range map[string]bool{"npx -y x": true, "/opt/my server/x": false, `C:\Program Files\x.exe`: false} {
		if hint := (&Server{ID: "s", Command: command}).CommandHint(); strings.Contains(hint, "command is the program alone") != apart {
			t.Errorf("%s: %s", command, hint)
		}
	}
}

func TestBackslashesThatAreNoEscapesNameTheFix(t *testing.T) {
	for path, text := range map[string]string{
		"toolfit.yaml": "mcpServers:\n  a:\n    command: \"C:\\srv\\x.exe\"\n",
		"mcp.json":     `{"mcpServers": {"a": {"command": "C:\srv\x.exe"}}}`,
	} {
		_, err := Parse(path, []byte(text), nil)
		if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), `write \\ for a backslash`) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestServersOfAClientOnWindowsStartElsewhere(t *testing.T) {
	for was, want := range map[string]string{
		"cmd /c npx -y x": "npx -y x", `C:\Windows\System32\cmd.exe /C npx.cmd x`: "npx x", "uvx.exe x": "uvx x", "NPX.CMD x": "NPX x",
		"cmd": "cmd", "./x.exe": "./x.exe", "npx -y x": "npx -y x",
	} {
		words := strings.Fields(was)
		for system, want := range map[string]string{"linux": want, "windows": was} {
			s := Server{Command: words[0], Args: words[1:]}
			portable(&s, system)
			if got := strings.Join(slices.Concat([]string{s.Command}, s.Args), " "); got != want {
				t.Errorf("%s on %s: got %s, want %s", was, system, got, want)
			}
		}
	}
}

func TestProgramName(t *testing.T) {
	for command, want := range map[string]string{`C:\Program Files\nodejs\NPX.CMD`: "npx", "/usr/bin/node": "node", "toolfit.exe": "toolfit",
		"a.b": "a.b", "": ""} {
		if got := ProgramName(command); got != want {
			t.Errorf("%s: got %s", command, got)
		}
	}
}
