package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// Verify reads a whole backup, compares every entry with the manifest, and writes nothing.
func Verify(ctx context.Context, path string) (*Manifest, error) {
	m, err := read(ctx, path, func(string, io.Reader) error { return nil })
	if err != nil {
		return nil, err
	}
	return m, m.needs().Usable()
}

// read passes each entry but the manifest to f, which need not read it, and then compares all with the manifest.
func read(ctx context.Context, path string, f func(name string, from io.Reader) error) (*Manifest, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "%s cannot be read: %w", path, errors.Unwrap(err)).WithHint("check the path and who may read it")
	}
	defer file.Close()
	return readFrom(reader{ctx, file}, path, f)
}

func readFrom(from io.Reader, path string, f func(name string, from io.Reader) error) (*Manifest, error) {
	packed, err := gzip.NewReader(from)
	if err != nil {
		return nil, unreadable(path, err)
	}
	entries := tar.NewReader(packed)
	var found []Entry
	names := map[string]bool{}
	length := 0 // of all names, which the manifest repeats
	for {
		header, err := entries.Next()
		if err != nil { // the manifest is last
			return nil, unreadable(path, err)
		}
		most := allowed(header.Name)
		length += len(header.Name)
		switch {
		case most == 0 || header.Typeflag != tar.TypeReg || isSparse(header):
			return nil, broken("%s has an entry %.100q that no backup has", path, header.Name)
		case header.Size > most:
			return nil, broken("%s has an entry %.100q of %d bytes, which is too much", path, header.Name, header.Size)
		case header.Name == manifestName:
			return checkManifest(path, entries, found)
		case len(found) == maxEntries || length > maxManifest:
			return nil, broken("%s has too many entries", path)
		case names[header.Name]:
			return nil, broken("%s has two entries %.100q", path, header.Name)
		}
		names[header.Name] = true
		sum := sha256.New()
		both := io.TeeReader(entries, sum)
		if err := f(header.Name, both); err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, both); err != nil {
			return nil, unreadable(path, err)
		}
		found = append(found, Entry{header.Name, header.Size, hex.EncodeToString(sum.Sum(nil))})
	}
}

// isSparse tells whether an entry has holes, of which a few bytes of a file may make any number.
func isSparse(header *tar.Header) bool {
	for name := range header.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// checkManifest reads the manifest, and compares what was found with it.
func checkManifest(path string, from io.Reader, found []Entry) (*Manifest, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, unreadable(path, err)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, broken("the manifest of %s cannot be read", path)
	}
	switch {
	case m.Format > format:
		return nil, broken("%s was written by a newer toolfit, %.40q", path, m.Toolfit)
	case len(found) != len(m.Entries) || len(found) == 0 || found[0].Name != storeName:
		return nil, broken("%s does not have the entries that its manifest names", path)
	case m.Config != "" && !slices.Contains(m.Files(), m.Config[min(len(configName), len(m.Config)):]):
		return nil, broken("%s does not have the configuration that its manifest names", path)
	}
	for i, e := range found {
		if e != m.Entries[i] {
			return nil, broken("entry %.100q of %s is not as its manifest says: the file is damaged, or was changed", e.Name, path)
		}
	}
	return m, nil
}

// unreadable is the error for a file that ends too early or is something else.
func unreadable(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken("%s is not whole: it ends before its manifest", path)
	}
	return broken("%s is not a backup, or is damaged", path)
}
