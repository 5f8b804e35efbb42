package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errVanished means that the open file is not the one at its path.
var errVanished = errors.New("the open file is no longer at its path")

// roomBytes is how much space must be left for the store to count as writable.
const roomBytes = 256 << 10

// openFile is the SQLite file as it was opened. One that is deleted or replaced stays writable, and
// what is written to it is lost with the process.
type openFile struct {
	path, journal string
	info          fs.FileInfo
}

// statFile remembers which file the path leads to.
func statFile(path string) (*openFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info) // on Windows this is when the file's identity is read
	return &openFile{path, path + "-wal", info}, nil
}

// intact is called after each write, before it is reported as done.
func (s *Store) intact() error {
	if s.file == nil {
		return nil
	}
	info, err := os.Stat(s.file.path)
	if err == nil && !os.SameFile(info, s.file.info) {
		return errVanished
	}
	if err == nil {
		_, err = os.Stat(s.file.journal) // what was written last may be there alone
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errVanished, err)
	}
	return err
}

// Writable writes to the store and returns why nothing can be added to it now.
func (s *Store) Writable(ctx context.Context) error {
	err := s.hasRoom()
	if err == nil {
		_, err = s.exec(ctx, "UPDATE schema_version SET version = version")
	}
	return s.explain("write to the store", err)
}

// hasRoom writes another file: SQLite's journal may have space left on a disk that is full.
func (s *Store) hasRoom() error {
	if s.file == nil {
		return nil
	}
	path := s.file.path + "-room"
	err := os.WriteFile(path, make([]byte, roomBytes), 0o600)
	if gone := os.Remove(path); err == nil && !errors.Is(gone, fs.ErrNotExist) { // another process may have the same in mind
		err = gone
	}
	return err
}
