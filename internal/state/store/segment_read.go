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

// refresh reads what is new in the folder: segments of other processes, and of this one
// from before it started. Those that are gone are forgotten.
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

// scan reads the heads that are new in one segment.
func (d *resultFolder) scan(number int, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	d.mu.Lock()
	g := d.index.segment(number)
	from, ours := g.end, g.ours
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
	if g = d.index.segment(number); g.ours { // it was made meanwhile
		return nil
	}
	for _, f := range found {
		d.index.add(g, f)
	}
	return err
}

// list looks into the folder first, unless the one that is asked for is known.
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
	for size, i := 0, 0; i < len(candidates) && len(found) < limit && size < pageBytes; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, there, err := d.read(candidates[i], f.Heads)
		if err != nil {
			return nil, err
		}
		if there && f.has(&r) {
			found, size = append(found, r), size+len(r.Args)+len(r.Body)
		}
	}
	return found, nil
}

// read tells also whether the result is still there. Of a head there are no arguments and no body.
func (d *resultFolder) read(k *kept, head bool) (r Result, there bool, err error) {
	file, err := os.Open(d.path(k.segment.number))
	if errors.Is(err, fs.ErrNotExist) {
		// Trimmed by another process or removed by hand: nothing more is to go into it.
		return Result{}, false, d.abandon(k.segment.number)
	}
	if err != nil {
		return Result{}, false, err
	}
	defer file.Close()
	if head {
		r, err = readFrameHead(file, k.frame)
	} else {
		r, err = d.last.read(file, k, d.opts)
	}
	if errors.Is(err, errNoFrame) {
		return Result{}, false, nil
	}
	return r, err == nil, err
}

// Of these sizes the result that was read last is held in memory: who chooses fields of a long
// one, or fetches it page by page, reads it again and again.
const leastHeld, mostHeld = 256 << 10, 16 << 20

// lastRead holds one result. The zero value is ready.
type lastRead struct {
	mu     sync.Mutex
	number int // of its segment; 0: there is none
	frame  keptFrame
	result Result
}

func (l *lastRead) read(file *os.File, k *kept, opts *Options) (Result, error) {
	if k.frame.size < leastHeld || k.frame.size > mostHeld {
		return readFrame(file, k.frame.offset, k.frame.size, opts)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.number == k.segment.number && l.frame == k.frame {
		return l.result, nil
	}
	r, err := readFrame(file, k.frame.offset, k.frame.size, opts)
	if err == nil && r.Err == nil {
		l.number, l.frame, l.result = k.segment.number, k.frame, r
	}
	return r, err
}

// has compares the texts themselves: the index knows only their sums.
func (f *ResultFilter) has(r *Result) bool {
	for _, pair := range [][2]string{
		{f.Owner, r.Owner}, {f.Ref, r.Ref}, {f.Call, r.Call}, {f.Tool, string(r.Tool)}, {f.Session, r.Session}, {f.Rule, r.Rule},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}
