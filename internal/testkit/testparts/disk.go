package testparts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a small file system of its own.
type Disk struct{ Dir string }

// SmallDisk mounts a file system of so many kilobytes, or skips the test where that may not be done.
func SmallDisk(t testing.TB, kilobytes int) Disk {
	t.Helper()
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kilobytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("needs the right to mount a small file system: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return Disk{dir}
}

func (d Disk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill takes all the space that is left.
func (d Disk) Fill(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// Free gives the space back.
func (d Disk) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Fatal(err)
	}
}
