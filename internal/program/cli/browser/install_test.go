package browser

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsToBeInstalledFitsTheSystem(t *testing.T) {
	for _, c := range []struct{ name, goos, release, node, browser string }{
		{"Debian with a Node that is new enough", "linux", "ID=debian\nVERSION_ID=\"13\"\n", "apt-get install nodejs npm",
			"apt-get install chromium fonts-noto-cjk"},
		{"Debian whose Node is too old", "linux", "VERSION_ID=\"12\"\nID=debian\n", nodePage, "apt-get install chromium fonts-noto-cjk"},
		{"the next Debian, which has no number yet", "linux", "ID=debian\nVERSION_CODENAME=forky\n", "apt-get install nodejs npm",
			"apt-get install chromium fonts-noto-cjk"},
		{"one that is like Ubuntu first", "linux", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"22\"\n", "snap install node --classic",
			fetchChromium},
		{"Fedora", "linux", "ID=fedora\n", "dnf install nodejs npm", "dnf install chromium google-noto-sans-cjk-fonts"},
		{"Alpine", "linux", "ID='alpine'\r\n", "apk add nodejs npm", "apk add chromium font-noto-cjk"},
		{"Arch", "linux", "ID=arch", "pacman -S nodejs npm", "pacman -S chromium noto-fonts-cjk"},
		{"one that nobody knows", "linux", "\x00=\n===\nID", nodePage, fetchChromium},
		{"another", "freebsd", "", nodePage, fetchChromium},
		{"macOS", "darwin", "", "brew install node", "brew install --cask google-chrome"},
	} {
		if got := waysOf(c.goos, c.release); got != (ways{c.node, c.browser}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if asRoot(nodePage) != nodePage || asRoot("apk add x") != "sudo apk add x" {
		t.Error("the words for others than root")
	}
}

func FuzzReadRelease(f *testing.F) {
	f.Add("ID=debian\nVERSION_ID=\"13\"\n")
	f.Add("ID_LIKE=\"a b\"\r\nVERSION_CODENAME=x")
	f.Fuzz(func(t *testing.T, text string) {
		if w := waysOf("linux", text); w.node == "" || w.browser == "" {
			t.Errorf("%q: %+v", text, w)
		}
	})
}

func TestABrowserThatPlaywrightHasFetchedIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[odd] *folder")
	for _, path := range []string{"chromium-999/chrome-linux/chrome", "chromium-1200/chrome-linux64/chrome", "chromium-x/chrome-linux/chrome", "firefox-9999/firefox/firefox", "chromium_headless_shell-2000/chrome-linux/headless_shell", "chromium-1200/chrome-mac/Chromium.app/Contents/MacOS/Chromium"} {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for goos, want := range map[string]string{"linux": "chromium-1200/chrome-linux64/chrome", "darwin": "chromium-1200/chrome-mac/Chromium.app/Contents/MacOS/Chromium"} {
		if got := downloaded(dir, goos); got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s: %q", goos, got)
		}
	}
	for _, dir := range []string{"", filepath.Join(dir, "nothing")} {
		if got := downloaded(dir, "linux"); got != "" || downloaded(dir, "plan9") != "" {
			t.Errorf("%q has %q", dir, got)
		}
	}
}
