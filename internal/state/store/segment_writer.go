package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// A segment has at most this size, or less under a small limit: space is freed by the segment.
	maxSegment    = 16 << 20
	minSegment    = 64 << 10
	segmentFrames = 8192
	// A segment gets no frame after segmentIdle, and other processes delete it only after segmentAlone
	// without one: nobody writes to a segment that another deletes.
	segmentIdle  = 20 * time.Minute
	segmentAlone = time.Hour
)

// segmentName is the file of a segment.
func segmentName(number int) string { return fmt.Sprintf("%06d.seg", number) }

// segmentWriter appends to one segment, which nobody else writes to.
type segmentWriter struct {
	number int
	file   *os.File
	info   fs.FileInfo  // of the file
	seen   time.Time    // when it was last there
	end    atomic.Int64 // of the last whole frame
	frames int
	last   time.Time // when the last frame came

	syncing sync.Mutex
	synced  int64 // what is on disk
	err     error // why the rest cannot be
}

// newSegment creates a segment with the first free number from this one on.
func newSegment(dir string, number int) (*segmentWriter, error) {
	for ; ; number++ {
		f, err := os.OpenFile(filepath.Join(dir, segmentName(number)), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &segmentWriter{number: number, file: f, info: info, last: time.Now(), seen: time.Now()}, nil
	}
}

// close ends the segment, after those who wait for the disk have their answer.
func (w *segmentWriter) close(durable bool) error {
	var err error
	if durable {
		err = w.sync(w.end.Load())
	}
	w.syncing.Lock()
	defer w.syncing.Unlock()
	return errors.Join(err, w.file.Close())
}

// full tells whether a frame of this size needs another segment.
func (w *segmentWriter) full(size int, most int64) bool {
	end := w.end.Load()
	return end > 0 && (end+int64(size) > most || w.frames >= segmentFrames) || time.Since(w.last) > segmentIdle
}

// append writes one frame. On an error the file is as before; if not, broken is true and the segment
// gets no more frames.
func (w *segmentWriter) append(b []byte) (offset int64, broken bool, err error) {
	offset = w.end.Load()
	if _, err := w.file.WriteAt(b, offset); err != nil {
		undo := w.file.Truncate(offset)
		return 0, undo != nil, errors.Join(err, undo)
	}
	w.end.Store(offset + int64(len(b)))
	w.frames++
	w.last = time.Now()
	return offset, false, nil
}

// lookEvery is how often the file is checked if its results may be lost in a crash anyway.
const lookEvery = time.Second

// there tells whether the path still leads to the file.
func (w *segmentWriter) there(now bool) bool {
	if !now && w.last.Sub(w.seen) < lookEvery {
		return true
	}
	w.seen = w.last
	info, err := os.Stat(w.file.Name())
	return err == nil && os.SameFile(info, w.info)
}

// sync returns when everything up to end is on disk. Those who come meanwhile share the next sync.
func (w *segmentWriter) sync(end int64) error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	if w.synced >= end || w.err != nil {
		return w.err
	}
	written := w.end.Load()
	if w.err = w.file.Sync(); w.err == nil {
		w.synced = written
	}
	return w.err
}

// syncDir writes the names of new files to disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
