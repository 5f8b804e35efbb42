package cli

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// browsersFolder is where playwright keeps the browsers that it has fetched.
func (c *command) browsersFolder() string {
	if dir, ok := c.env.Lookup("PLAYWRIGHT_BROWSERS_PATH"); ok && filepath.IsAbs(dir) {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ms-playwright")
}

// fetchedPrograms are where the program of a browser is that playwright has fetched.
var fetchedPrograms = map[string]string{
	"linux":   "chromium-*/chrome-linux*/chrome",
	"darwin":  "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
	"windows": "chromium-*/chrome-win*/chrome.exe",
}

// fetchedBrowser is the newest browser in playwright's folder; "" for none.
func fetchedBrowser(dir, goos string) string {
	if dir == "" || fetchedPrograms[goos] == "" {
		return ""
	}
	found, err := fs.Glob(os.DirFS(dir), fetchedPrograms[goos])
	if err != nil || len(found) == 0 {
		return ""
	}
	build := func(path string) int {
		name, _, _ := strings.Cut(path, "/")
		n, _ := strconv.Atoi(strings.TrimPrefix(name, "chromium-")) // what has no number is the oldest
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(build(a), build(b)) })
	return filepath.Join(dir, filepath.FromSlash(newest))
}

// ways are how the parts of a browser test are installed on a system.
type ways struct{ node, browser string }

const (
	nodePage      = "from https://nodejs.org/en/download"
	fetchChromium = "npx playwright install --with-deps chromium"
)

// here are the ways of this system.
func here() ways {
	release, _ := os.ReadFile("/etc/os-release") // without it, what works everywhere is said
	w := waysOf(runtime.GOOS, string(release))
	if runtime.GOOS == "linux" && os.Geteuid() != 0 {
		w.node, w.browser = asRoot(w.node), asRoot(w.browser)
	}
	return w
}

func asRoot(way string) string {
	if way == nodePage || way == fetchChromium { // which asks for the password by itself
		return way
	}
	return "sudo " + way
}

// waysOf are the ways of a system. The release is that of os-release on Linux. A package is
// named only where it is known to be new enough.
func waysOf(goos, release string) ways {
	switch goos {
	case "darwin":
		return ways{"brew install node", "brew install --cask google-chrome"}
	case "windows":
		return ways{"winget install OpenJS.NodeJS.LTS", "winget install Google.Chrome"}
	}
	names, version := readRelease(release)
	for _, name := range names {
		switch name {
		case "ubuntu": // its package of Chromium is a stub
			return ways{"snap install node --classic", fetchChromium}
		case "debian":
			w := ways{nodePage, "apt-get install chromium fonts-noto-cjk"}
			if version >= 13 {
				w.node = "apt-get install nodejs npm"
			}
			return w
		case "fedora":
			return ways{"dnf install nodejs npm", "dnf install chromium google-noto-sans-cjk-fonts"}
		case "alpine":
			return ways{"apk add nodejs npm", "apk add chromium font-noto-cjk"}
		case "arch":
			return ways{"pacman -S nodejs npm", "pacman -S chromium noto-fonts-cjk"}
		}
	}
	return ways{nodePage, fetchChromium}
}

// readRelease reads the names of a system, its own before those that it is like, and the
// first number of its version.
func readRelease(text string) (names []string, version int) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = strings.Trim(value, `"'`)
	}
	first, _, _ := strings.Cut(values["VERSION_ID"], ".")
	version, _ = strconv.Atoi(first) // a rolling release has none
	if version == 0 && values["VERSION_CODENAME"] != "" {
		version = 99 // it is the next one, of which packages are newer
	}
	return append([]string{values["ID"]}, strings.Fields(values["ID_LIKE"])...), version
}
