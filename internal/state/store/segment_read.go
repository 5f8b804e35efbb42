package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// refresh reads what is new in the folder: segments of other processes and of earlier runs of
// this one. It forgets those that no longer exist.
func (d *resultFolder) refresh() error {
	d.reading.Lock()
	defer d.reading.Unlock()
	gone := map[int]*segment{}
	d.mu.Lock()
	for number, g := range d.index.segments {
		if !g.open {
			gone[number] = g
		}
	}
	d.mu.Unlock()
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		digits, isSegment := strings.CutSuffix(e.Name(), ".seg")
		number, err := strconv.Atoi(digits)
		if !isSegment || err != nil || segmentName(number) != e.Name() {
			continue
		}
		delete(gone, number)
		if err := d.scan(number, e); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range gone {
		d.index.forget(g)
	}
	return nil
}

// scan reads the new heads of one segment.
func (d *resultFolder) scan(number int, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	d.mu.Lock()
	g := d.index.segment(number)
	from := g.end
	ours := g.ours
	d.mu.Unlock()
	if ours || info.Size() <= from {
		return nil
	}
	file, err := os.Open(d.path(number))
	if err != nil {
		return err
	}
	defer file.Close()
	var found []frame
	_, err = scanFrames(file, info.Size(), from, func(f frame) { found = append(found, f) })
	d.mu.Lock()
	defer d.mu.Unlock()
	g = d.index.segment(number)
	if g.ours { // created in the meantime
		return nil
	}
	for _, f := range found {
		d.index.add(g, f)
	}
	return err
}

// list reads the folder first, unless the index has the one that is asked for.
func (d *resultFolder) list(ctx context.Context, f *ResultFilter, now time.Time) ([]Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	known := f.Ref != "" && f.Owner != "" && d.index.has(f.Owner, f.Ref)
	d.mu.Unlock()
	if !known {
		if err := d.refresh(); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	candidates, err := d.index.find(f, now)
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	limit := pageLimit(f.Limit)
	var found []Result
	size := 0
	for _, e := range candidates {
		if len(found) == limit || size >= pageBytes {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, exists, err := d.read(e, f.Heads)
		if err != nil {
			return nil, err
		}
		if exists && f.matches(&r) {
			found = append(found, r)
			size += len(r.Args) + len(r.Body)
		}
	}
	return found, nil
}

// read reads a result, or only its metadata, and tells whether it still exists.
func (d *resultFolder) read(e *indexEntry, head bool) (r Result, exists bool, err error) {
	file, err := os.Open(d.path(e.segment.number))
	if errors.Is(err, fs.ErrNotExist) {
		// Trimmed by another process or removed by hand: write nothing more to it.
		return Result{}, false, d.abandon(e.segment.number)
	}
	if err != nil {
		return Result{}, false, err
	}
	defer file.Close()
	if head {
		r, err = readFrameHead(file, e.frame)
	} else {
		r, err = d.last.read(file, e, d.opts)
	}
	if errors.Is(err, errNoFrame) {
		return Result{}, false, nil
	}
	return r, err == nil, err
}

// A result of such a size is held in memory after it was read: someone who chooses fields of a
// long one, or fetches it page by page, reads it again and again.
const minHeld, maxHeld = 256 << 10, 16 << 20

// lastRead holds one result. The zero value is ready.
type lastRead struct {
	mu     sync.Mutex
	entry  *indexEntry // nil: none
	result Result
}

func (l *lastRead) read(file *os.File, e *indexEntry, opts *Options) (Result, error) {
	if e.frame.size < minHeld || e.frame.size > maxHeld {
		return readFrame(file, e.frame, opts)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entry == e {
		return l.result, nil
	}
	r, err := readFrame(file, e.frame, opts)
	if err == nil && r.Err == nil {
		l.entry = e
		l.result = r
	}
	return r, err
}
