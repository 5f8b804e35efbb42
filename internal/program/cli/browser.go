package cli

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser opens a page in the user's browser, without a shell.
func openBrowser(page string) error {
	if u, err := url.Parse(page); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("it is not the address of a page")
	}
	command := []string{"xdg-open"}
	switch {
	case runtime.GOOS == "darwin":
		command = []string{"open"}
	case runtime.GOOS == "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no screen")
	}
	cmd := exec.Command(command[0], append(command[1:], page)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // it may last as long as the browser
	return nil
}
