package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// maxIndexed is how many results the index holds, in about 20 MB. Beyond that the oldest segments go.
const maxIndexed = 131_072

// resultFolder stores results in segments beside a SQLite file. Each process writes its own segments
// and reads all.
type resultFolder struct {
	dir    string
	opts   *Options
	frames sync.Pool // of *[]byte, for frames

	writing sync.Mutex
	writer  *segmentWriter // nil until the first result
	next    int            // the number to try for the next segment
	maxSize int64          // of a segment, in bytes
	total   int64          // of all, by the last trim; 0: no limit

	reading sync.Mutex // held while the folder is read
	last    lastRead

	mu    sync.Mutex // held for the index, never while waiting for the disk
	index *resultIndex
}

func newResultFolder(dir string, opts *Options) *resultFolder {
	return &resultFolder{dir: dir, opts: opts, next: 1, maxSize: maxSegment, index: newResultIndex()}
}

// Close ends the segment that is being written.
func (d *resultFolder) Close() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	return d.seal()
}

// seal ends the segment that is being written. The caller holds writing.
func (d *resultFolder) seal() error {
	if d.writer == nil {
		return nil
	}
	w := d.writer
	d.writer = nil
	d.mu.Lock()
	d.index.segment(w.number).open = false
	d.mu.Unlock()
	return w.close(d.opts.Durable)
}

// save writes the frame and, when durable, waits for the disk.
func (d *resultFolder) save(ctx context.Context, r *Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	buf, _ := d.frames.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	b, f, err := appendFrame((*buf)[:0], r, d.opts)
	if err != nil {
		return err
	}
	if cap(b) <= 1<<20 { // a rare long one would stay in memory for good
		*buf = b
		defer d.frames.Put(buf)
	}
	w, end, err := d.append(f, b)
	if err != nil || !d.opts.Durable {
		return err
	}
	if err := w.sync(end); err != nil {
		return errors.Join(err, d.abandon(w.number))
	}
	return nil
}

// abandon lets the next result begin another segment, if this is the one being written.
func (d *resultFolder) abandon(number int) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.writer == nil || d.writer.number != number {
		return nil
	}
	return d.seal()
}

// append writes the frame to the end of the current or a new segment and adds it to the index.
func (d *resultFolder) append(f frame, b []byte) (w *segmentWriter, end int64, err error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	taken := d.index.has(f.about.Owner, f.about.Ref)
	d.mu.Unlock()
	if taken {
		return nil, 0, refTaken(f.about.Ref)
	}
	for range 2 {
		if err := d.ready(len(b)); err != nil {
			return nil, 0, err
		}
		w = d.writer
		offset, broken, err := w.append(b)
		if broken {
			err = errors.Join(err, d.seal())
		}
		if err != nil {
			return nil, 0, err
		}
		if !w.there(d.opts.Durable) {
			d.lost(w.number)
			continue
		}
		f.offset = offset
		d.mu.Lock()
		d.index.add(d.index.segment(w.number), f)
		d.mu.Unlock()
		return w, offset + f.size(), nil
	}
	return nil, 0, errVanished
}

// lost forgets the segment that is being written, whose file somebody deleted or moved.
func (d *resultFolder) lost(number int) {
	d.opts.Logger.Error("a file of stored results has vanished; the results in it are lost", "file", d.path(number))
	d.seal() // it does not matter whether that works
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index.forget(d.index.segment(number))
}

// ready makes sure that there is a segment with space for so many bytes.
func (d *resultFolder) ready(size int) error {
	if d.writer != nil && !d.writer.full(size, d.maxSize) {
		return nil
	}
	if w := d.writer; w != nil && !w.there(true) {
		d.lost(w.number)
	}
	if err := d.seal(); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	w, err := newSegment(d.dir, d.next)
	if err != nil {
		return err
	}
	d.writer = w
	d.next = w.number + 1
	d.mu.Lock()
	g := d.index.segment(w.number)
	g.ours = true
	g.open = true
	d.mu.Unlock()
	d.removeOldest(context.Background(), d.total) // TrimResults reports errors
	if d.opts.Durable {
		return syncDir(d.dir)
	}
	return nil
}

func (d *resultFolder) path(number int) string { return filepath.Join(d.dir, segmentName(number)) }
