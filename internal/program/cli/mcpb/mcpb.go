// Package mcpb unpacks MCP bundles (.mcpb: a zip with a manifest.json and the files of a server) and plans the server of the
// configuration that runs what is inside. A bundle comes from strangers: nothing of it is written outside its folder, links are
// refused, and sizes are limited. It never runs anything.
//
//	dir, _, err := mcpb.Unpack("weather.mcpb", "", "bundles")
//	plan, err := mcpb.Read(dir, home)
package mcpb

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// Limits of a bundle. Servers with their libraries are tens of megabytes and some thousand files.
const (
	maxBundle   = 512 << 20 // as a file
	maxUnpacked = 2 << 30
	maxEntries  = 100_000
	fetchTime   = 10 * time.Minute
)

// limits are the above; tests have smaller ones.
type limits struct {
	unpacked int64
	entries  int
}

var usual = limits{maxUnpacked, maxEntries}

// Unpack unpacks the bundle at path into a folder of its own below folder, named by the SHA-256 of the bundle, and returns that
// folder. What is there already is used again, and not fresh. If a sum is given, it must be that of the bundle.
func Unpack(path, sum, folder string) (dir string, fresh bool, err error) {
	return usual.unpack(path, sum, folder)
}

func (l limits) unpack(path, sum, folder string) (dir string, fresh bool, err error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, fault.New(fault.NotFound, "there is no file %s", path)
	}
	if err != nil {
		return "", false, fault.New(fault.BadRequest, "%w", err)
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, io.LimitReader(f, maxBundle+1))
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", path, err)
	}
	got := hex.EncodeToString(hash.Sum(nil))
	switch {
	case size > maxBundle:
		return "", false, fault.New(fault.TooLarge, "the bundle is larger than %d MB", maxBundle>>20)
	case sum != "" && sum != got:
		return "", false, fault.New(fault.BadConfig, "the bundle is not the one that was published: its SHA-256 is %s, not %s", got, sum)
	}
	dir, err = filepath.Abs(filepath.Join(folder, got))
	if err != nil {
		return "", false, fmt.Errorf("find %s: %w", folder, err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, false, nil
	}
	files, err := zip.NewReader(f, size)
	if err != nil {
		return "", false, fault.New(fault.BadConfig, "%s is not a bundle: %w", path, err)
	}
	fresh, err = l.place(files.File, folder, dir)
	return dir, fresh, err
}

// place writes the files into a new folder, which gets its name when it is complete. It is not fresh if somebody else was
// faster with the same bundle.
func (l limits) place(files []*zip.File, folder, dir string) (fresh bool, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return false, fmt.Errorf("create the folder of bundles: %w", err)
	}
	part, err := os.MkdirTemp(folder, ".part-")
	if err != nil {
		return false, fmt.Errorf("create the folder of the bundle: %w", err)
	}
	defer os.RemoveAll(part)
	root, err := os.OpenRoot(part)
	if err != nil {
		return false, fmt.Errorf("open the folder of the bundle: %w", err)
	}
	defer root.Close()
	if err := l.write(root, files); err != nil {
		return false, err
	}
	if err := makeRunnable(root); err != nil {
		return false, err
	}
	if err := os.Rename(part, dir); err != nil {
		if _, gone := os.Stat(dir); gone != nil {
			return false, fmt.Errorf("place the bundle: %w", err)
		}
		return false, nil
	}
	return true, nil
}

func (l limits) write(root *os.Root, files []*zip.File) error {
	if len(files) > l.entries {
		return fault.New(fault.TooLarge, "the bundle has more than %d files", l.entries)
	}
	seen := map[string]bool{}
	left := l.unpacked
	for _, file := range files {
		name := strings.TrimSuffix(file.Name, "/")
		folded := strings.ToLower(name)
		kind := file.Mode().Type()
		switch {
		case !safe(name) || kind != 0 && kind != fs.ModeDir:
			return fault.New(fault.BadConfig, "the bundle has the entry %q, which is no plain file in it", file.Name)
		case seen[folded] && kind == 0:
			return fault.New(fault.BadConfig, "the bundle has the file %q twice", file.Name)
		}
		seen[folded] = true
		if strings.HasSuffix(file.Name, "/") || kind == fs.ModeDir {
			if err := root.MkdirAll(name, 0o755); err != nil {
				return fault.New(fault.BadConfig, "the bundle cannot be unpacked: %w", err)
			}
			continue
		}
		n, err := writeFile(root, name, file, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// safe tells whether a name is that of a file in the bundle, on every system.
func safe(name string) bool {
	return name != "" && len(name) <= 1024 && fs.ValidPath(name) && filepath.IsLocal(filepath.FromSlash(name)) &&
		!strings.ContainsAny(name, `\:`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// writeFile unpacks one file of at most so many bytes, whatever the zip says about its size.
func writeFile(root *os.Root, name string, file *zip.File, most int64) (int64, error) {
	bad := func(err error) error {
		return fault.New(fault.BadConfig, "the bundle cannot be unpacked: %s: %w", name, err)
	}
	in, err := file.Open()
	if err != nil {
		return 0, bad(err)
	}
	defer in.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, bad(err)
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|file.Mode().Perm()&0o111)
	if err != nil {
		return 0, bad(err)
	}
	n, err := io.Copy(out, io.LimitReader(in, most+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, bad(err)
	}
	if n > most {
		return 0, fault.New(fault.TooLarge, "the bundle is larger than %d MB when unpacked", maxUnpacked>>20)
	}
	return n, nil
}

// Download writes the bundle at the address to a file in folder and returns its path; the caller removes it.
func Download(ctx context.Context, client *http.Client, address, folder string) (path string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fault.New(fault.BadConfig, "%w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", fault.New(fault.UpstreamDown, "the bundle could not be fetched: %w", err).
			WithHint("fetch it elsewhere, and add the file: toolfit add ./NAME.mcpb")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fault.New(fault.UpstreamError, "%s answered with %s", req.URL.Host, resp.Status)
	}
	f, err := os.CreateTemp(folder, "bundle-*.mcpb")
	if err != nil {
		return "", fmt.Errorf("store the bundle: %w", err)
	}
	_, err = io.Copy(f, io.LimitReader(resp.Body, maxBundle+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("store the bundle: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}
