package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// trim drops results from the index of this process and deletes the segments in which none is
// left; the bytes of a dropped result go with its segment.
func (d *resultFolder) trim(ctx context.Context, l ResultLimits, now time.Time) (deleted int64, err error) {
	if err := d.refresh(); err != nil {
		return 0, err
	}
	if err := d.sealOld(l.Total, now); err != nil {
		return 0, err
	}
	d.mu.Lock()
	for _, g := range d.index.segments {
		deleted += d.index.drop(g, func(e *indexEntry) bool { return e.expired(now) })
	}
	if l.Owner > 0 {
		deleted += d.index.dropOver(l.Owner)
	}
	d.mu.Unlock()
	n, err := d.removeOldest(ctx, l.Total)
	return deleted + n, err
}

// sealOld ends the segment that is being written when it is long or everything in it has
// expired: only then can it be deleted.
func (d *resultFolder) sealOld(total int64, now time.Time) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.total = total
	if total > 0 {
		d.maxSize = min(max(total/8, minSegment), maxSegment)
	}
	if d.writer == nil {
		return nil
	}
	d.mu.Lock()
	g := d.index.segment(d.writer.number)
	stays := g.end <= d.maxSize && slices.ContainsFunc(g.entries, func(e *indexEntry) bool { return !e.expired(now) })
	d.mu.Unlock()
	if stays {
		return nil
	}
	return d.seal()
}

// dropOver drops the oldest results of each owner with more than limit bytes.
func (x *resultIndex) dropOver(limit int64) (dropped int64) {
	total := map[uint64]int64{}
	over := map[*indexEntry]bool{}
	for _, e := range x.all() {
		owner := e.hashes[ownerKey]
		total[owner] += e.frame.size
		over[e] = total[owner] > limit
	}
	for _, g := range x.segments {
		dropped += x.drop(g, func(e *indexEntry) bool { return over[e] })
	}
	return dropped
}

// size is how many bytes all segments have.
func (d *resultFolder) size() (total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.index.segments {
		total += g.end
	}
	return total
}

// removeOldest deletes the segments in which nothing is left, and then the oldest ones while all
// together exceed limit bytes (0: no limit) or the index is full. The newest one stays, so that
// a result that was just stored does not go with old ones.
func (d *resultFolder) removeOldest(ctx context.Context, limit int64) (deleted int64, err error) {
	d.mu.Lock()
	all := d.index.oldestFirst()
	var total int64
	for _, g := range all {
		total += g.end
	}
	d.mu.Unlock()
	for i, g := range all {
		d.mu.Lock()
		goes := len(g.entries) == 0 || i < len(all)-1 && (limit > 0 && total > limit || d.index.count > maxIndexed)
		size := g.end
		d.mu.Unlock()
		if !goes || !d.mayRemove(g) {
			continue
		}
		if err := errors.Join(ctx.Err(), os.Remove(d.path(g.number))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return deleted, err
		}
		d.mu.Lock()
		deleted += d.index.forget(g)
		d.mu.Unlock()
		total -= size
	}
	return deleted, nil
}

// mayRemove tells whether no process writes to the segment any more.
func (d *resultFolder) mayRemove(g *segment) bool {
	d.mu.Lock()
	ours := g.ours
	open := g.open
	d.mu.Unlock()
	if ours {
		return !open
	}
	info, err := os.Stat(d.path(g.number))
	return err != nil || time.Since(info.ModTime()) > segmentAlone
}
