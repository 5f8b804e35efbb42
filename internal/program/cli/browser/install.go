package browser

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

// browsersFolder is where Playwright stores the browsers that it has downloaded.
func browsersFolder(lookup func(string) (string, bool)) string {
	if dir, ok := lookup("PLAYWRIGHT_BROWSERS_PATH"); ok && filepath.IsAbs(dir) {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ms-playwright")
}

// programs are the paths of downloaded browsers by system.
var programs = map[string]string{
	"linux":   "chromium-*/chrome-linux*/chrome",
	"darwin":  "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
	"windows": "chromium-*/chrome-win*/chrome.exe",
}

// downloaded is the newest browser in Playwright's folder; "" for none.
func downloaded(dir, goos string) string {
	if dir == "" || programs[goos] == "" {
		return ""
	}
	found, err := fs.Glob(os.DirFS(dir), programs[goos])
	if err != nil || len(found) == 0 {
		return ""
	}
	build := func(path string) int {
		name, _, _ := strings.Cut(path, "/")
		n, _ := strconv.Atoi(strings.TrimPrefix(name, "chromium-")) // without a number: the oldest
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(build(a), build(b)) })
	return filepath.Join(dir, filepath.FromSlash(newest))
}

// ways say how to install Node and a browser.
type ways struct{ node, browser string }

const (
	nodePage      = "from https://nodejs.org/en/download"
	fetchChromium = "npx playwright install --with-deps chromium"
)

// here is how to install them on this system.
func here() ways {
	release, _ := os.ReadFile("/etc/os-release") // without it, a way that works everywhere
	w := waysOf(runtime.GOOS, string(release))
	if runtime.GOOS == "linux" && os.Geteuid() != 0 {
		w.node = asRoot(w.node)
		w.browser = asRoot(w.browser)
	}
	return w
}

func asRoot(way string) string {
	if way == nodePage || way == fetchChromium { // it asks for the password itself
		return way
	}
	return "sudo " + way
}

// waysOf is how to install them on a system; release is the content of os-release on Linux. It
// names packages only where they are new enough.
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
		case "ubuntu": // its Chromium package is a stub
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

// readRelease reads the name of a system, the names of similar ones, and its major version.
func readRelease(text string) (names []string, version int) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = strings.Trim(value, `"'`)
	}
	first, _, _ := strings.Cut(values["VERSION_ID"], ".")
	version, _ = strconv.Atoi(first) // 0 for a rolling release
	if version == 0 && values["VERSION_CODENAME"] != "" {
		version = 99 // unreleased, so its packages are newer
	}
	return append([]string{values["ID"]}, strings.Fields(values["ID_LIKE"])...), version
}
