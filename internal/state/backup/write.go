package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Source is what a backup is made of.
type Source struct {
	Store   string   // the path of a SQLite store
	Config  string   // the configuration file; "": none
	Files   []string // other files that the configuration names
	Secrets bool     // also the files that the configuration names by ${file:PATH}
	Key     store.SecretKey
	Version string // of this toolfit
	Scratch string // where the copy of the store is made, before it is compressed
	Now     time.Time
	// Left is told of each file that is not in the backup, because it is secret or outside the configuration's folder.
	Left func(path string, secret bool)
}

// Write writes a backup. The store comes first: results that its records name are then in the files, which come later.
func Write(ctx context.Context, to io.Writer, src Source) (*Manifest, error) {
	defer os.Remove(src.Scratch)
	n, err := store.CopyTo(ctx, src.Store, src.Scratch)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Format: format, Toolfit: src.Version, At: src.Now.UTC().Truncate(time.Second), Schema: n.Version, Oldest: n.Oldest, Keys: n.Keys}
	if at := src.Key.Fingerprints(); len(at) > 0 && !slices.Contains(m.Keys, at[0]) {
		m.Keys = append(m.Keys, at[0]) // stored results and arguments of calls may need it
	}
	m.Store = filepath.ToSlash(src.Store)
	if rel, err := filepath.Rel(filepath.Dir(src.Config), src.Store); err == nil && filepath.IsLocal(rel) {
		m.Store = filepath.ToSlash(rel)
	}
	packed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx, tar: tar.NewWriter(packed), manifest: m}
	if err := w.all(src); err != nil {
		return nil, err
	}
	return m, errors.Join(w.tar.Close(), packed.Close())
}

type writer struct {
	ctx      context.Context
	tar      *tar.Writer
	manifest *Manifest
}

func (w *writer) all(src Source) error {
	copied, err := os.Open(src.Scratch)
	if err != nil {
		return err
	}
	defer copied.Close()
	info, err := copied.Stat()
	if err != nil {
		return err
	}
	if err := w.add(storeName, copied, info.Size()); err != nil {
		return err
	}
	if err := w.results(store.ResultsFolder(src.Store)); err != nil {
		return err
	}
	if src.Config != "" {
		if err := w.config(src); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.put(manifestName, bytes.NewReader(text), int64(len(text)))
	return err
}

// add writes an entry, and notes it in the manifest.
func (w *writer) add(name string, from io.Reader, size int64) error {
	sum, err := w.put(name, from, size)
	w.manifest.Entries = append(w.manifest.Entries, Entry{name, size, sum})
	return err
}

// put writes an entry and returns its hash.
func (w *writer) put(name string, from io.Reader, size int64) (sum string, err error) {
	if err := w.tar.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: w.manifest.At, Format: tar.FormatPAX}); err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(w.tar, hash), reader{w.ctx, from}, size); err != nil {
		return "", fmt.Errorf("copy %s: %w", name, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// reader ends with its context.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// results adds the files of stored results, each up to the last result that is whole.
func (w *writer) results(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if !store.IsSegment(f.Name()) {
			continue
		}
		segment, end, err := store.OpenSegment(filepath.Join(folder, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // its results have expired in the meantime
		}
		if err == nil {
			err = errors.Join(w.add(resultsName+f.Name(), segment, end), segment.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	secretFile = regexp.MustCompile(`\$\{file:([^}]+)\}`)
	comment    = regexp.MustCompile(`(?m)^\s*#.*$`) // the first lines of a configuration explain ${file:PATH}
)

// config adds the configuration and, if so wanted, the secret files beside it.
func (w *writer) config(src Source) error {
	text, err := readSmall(src.Config)
	if err != nil {
		return err
	}
	w.manifest.Config = configName + filepath.Base(src.Config)
	if err := w.add(w.manifest.Config, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	for _, path := range src.Files {
		if err := w.file(src, path); err != nil {
			return err
		}
	}
	for _, found := range secretFile.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
		path := found[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(src.Config), path)
		}
		if !src.Secrets {
			src.Left(path, true)
		} else if err := w.file(src, path); err != nil {
			return err
		}
	}
	return nil
}

// file adds a file beside the configuration, once.
func (w *writer) file(src Source, path string) error {
	folder := filepath.Dir(src.Config)
	name, err := filepath.Rel(folder, path)
	name = filepath.ToSlash(name)
	if err != nil || !isLocal(name) {
		src.Left(path, false)
		return nil
	}
	if slices.Contains(w.manifest.Files(), name) {
		return nil
	}
	text, err := readSmall(path)
	if err != nil {
		return err
	}
	return w.add(configName+name, bytes.NewReader(text), int64(len(text)))
}

// readSmall reads a file of the configuration.
func readSmall(path string) ([]byte, error) {
	text, err := regular.Read(path, maxConfig)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s cannot be read: %w", path, err)
	}
	if len(text) > maxConfig {
		return nil, fault.New(fault.TooLarge, "%s has more than %d MB", path, maxConfig>>20)
	}
	return text, nil
}
