package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Replace puts text in place of old in one step: a reader sees the old file or the new one,
// never a part. old is nil for a file that must not exist yet; a file that was changed since old
// was read is a fault.Conflict. Links are followed and the file's mode is kept, as far as the
// mask allows.
func Replace(path string, old, text []byte, mask fs.FileMode) error {
	target, err := resolve(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := writeTemp(filepath.Dir(target), mode&mask, text)
	if errors.Is(err, fs.ErrPermission) { // its own text names the temporary file
		return fault.New(fault.BadConfig, "%s cannot be changed: %w", path, fs.ErrPermission).
			WithHint("check who may write to folder %s", filepath.Dir(target))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp) // a no-op once it is renamed
	if err := unchanged(target, old); err != nil {
		return err
	}
	if err := os.Rename(tmp, target); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// resolve follows links, including one to a file that does not exist yet.
func resolve(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // .. leads up from where the folder really is
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", errors.New("too many links")
}

// writeTemp writes a file to the folder and makes sure it is on the disk.
func writeTemp(dir string, mode fs.FileMode, text []byte) (string, error) {
	f, err := os.CreateTemp(dir, ".toolfit-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

var tempName = regexp.MustCompile(`^\.toolfit-\d+$`)

// RemoveTemp removes what a Replace of the file left in its folder when it was killed. No other
// Replace may be at work there.
func RemoveTemp(path string) {
	target, err := resolve(path)
	if err != nil {
		return
	}
	files, _ := os.ReadDir(filepath.Dir(target))
	for _, f := range files {
		if tempName.MatchString(f.Name()) {
			os.Remove(filepath.Join(filepath.Dir(target), f.Name()))
		}
	}
}

// unchanged refuses to overwrite what somebody else wrote since the file was read.
func unchanged(path string, old []byte) error {
	now, err := Read(path, int64(len(old))+1)
	if errors.Is(err, fs.ErrNotExist) && old == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if old == nil || !bytes.Equal(now, old) {
		return fault.New(fault.Conflict, "%s was changed by somebody else at the same time", path).WithHint("try again")
	}
	return nil
}
