package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

// openTerminal is a terminal of so many columns, and what reads from it what is shown there.
func openTerminal(t *testing.T, columns uint16) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { screen.Close() })
	ask := func(request, argument uintptr) {
		t.Helper()
		if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, argument); err != 0 {
			t.Fatal(err)
		}
	}
	var locked, number int32
	size := [4]uint16{24, columns}
	ask(syscall.TIOCSPTLCK, uintptr(unsafe.Pointer(&locked)))
	ask(syscall.TIOCGPTN, uintptr(unsafe.Pointer(&number)))
	ask(syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty, screen
}

func TestListsEndWhereTheLinesOfTheTerminalDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "toolfit.yaml")
	if err := os.WriteFile(file, []byte("mcpServers: {shop: {builtin: demo-shop}}\nstore: t.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, screen := openTerminal(t, 50)
	lines := make(chan []string)
	go func() {
		var all []string
		for s := bufio.NewScanner(screen); s.Scan(); { // ends with the terminal
			all = append(all, strings.TrimSuffix(s.Text(), "\r"))
		}
		lines <- all
	}()
	var said strings.Builder
	if code := Run(t.Context(), []string{"tools", "--config", file}, &Env{In: strings.NewReader(""), Out: out, Err: &said, Lookup: func(string) (string, bool) { return "", false }}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	out.Close()
	all := <-lines
	cut := 0
	for _, l := range all {
		if terminal.Columns(l) > 50 {
			t.Errorf("%d places: %s", terminal.Columns(l), l)
		}
		if strings.HasSuffix(l, "…") {
			cut++
		}
	}
	if len(all) < 8 || cut == 0 {
		t.Errorf("%d lines, %d of them cut", len(all), cut)
	}
}
