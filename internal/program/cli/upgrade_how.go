package cli

import (
	"path/filepath"
	"strings"
)

// installation is how the program came to this machine.
type installation struct {
	By      string `json:"installed_by"`
	Program string `json:"program"`
	Line    string `json:"upgrade"` // what to do to upgrade it
}

// signs are parts of paths that tell who put a program there.
var signs = []struct{ part, by, line string }{
	{"/_npx/", "npx", "npx toolfit@latest"},
	{"/node_modules/", "npm", "npm install --global toolfit@latest"},
	{"/Cellar/", "Homebrew", "brew upgrade toolfit"},
	{"/homebrew/", "Homebrew", "brew upgrade toolfit"},
	{"/scoop/apps/", "Scoop", "scoop update toolfit"},
	{"/WinGet/", "winget", "winget upgrade toolfit"},
}

// databases are where package managers of Linux note what they installed.
var databases = []struct{ file, by, line string }{
	{"/var/lib/dpkg/info/toolfit.list", "a deb package", "sudo apt install ./toolfit.deb, with the file from " + releasesPage},
	{"/var/lib/pacman/local/toolfit-*", "an Arch package", "sudo pacman -U ./toolfit.pkg.tar.zst, with the file from " + releasesPage},
	{"/lib/apk/db/installed", "an apk package", "apk add --allow-untrusted ./toolfit.apk, with the file from " + releasesPage},
	{"/var/lib/rpm/*", "an rpm package", "sudo rpm --upgrade ./toolfit.rpm, with the file from " + releasesPage},
	{"/usr/lib/sysimage/rpm/*", "an rpm package", "sudo rpm --upgrade ./toolfit.rpm, with the file from " + releasesPage},
}

func (c *command) installed() installation {
	path := c.env.Program
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var folders []string // of Go
	for _, name := range []string{"GOBIN", "GOPATH"} {
		if dir, _ := c.env.Lookup(name); dir != "" {
			folders = append(folders, dir)
		}
	}
	if c.env.Home != "" {
		folders = append(folders, filepath.Join(c.env.Home, "go"))
	}
	return installedAt(path, folders, func(pattern string) bool {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		return len(found) > 0
	})
}

// installedAt guesses from the path of the program, and for that of packages from what exists.
func installedAt(path string, goFolders []string, exists func(pattern string) bool) installation {
	slashed := filepath.ToSlash(path)
	for _, s := range signs {
		if strings.Contains(slashed, s.part) {
			return installation{s.by, path, s.line}
		}
	}
	dir := filepath.Dir(path)
	for _, bin := range goFolders {
		if dir == filepath.Clean(bin) || dir == filepath.Join(bin, "bin") {
			return installation{"go install", path, "go install github.com/toolfit/toolfit/cmd/toolfit@latest"}
		}
	}
	if slashed == "/usr/bin/toolfit" {
		for _, d := range databases {
			if exists(d.file) {
				return installation{d.by, path, d.line}
			}
		}
	}
	return installation{"hand", path, "put the program of " + releasesPage + " in its place"}
}
