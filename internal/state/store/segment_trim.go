package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// trim drops results from the index and deletes the segments in which none is left. What is
// dropped is only of this process's index; its bytes go with its segment.
func (d *resultFolder) trim(ctx context.Context, l ResultLimits, now time.Time) (deleted int64, err error) {
	if err := d.refresh(); err != nil {
		return 0, err
	}
	if err := d.sealOld(l.Total, now); err != nil {
		return 0, err
	}
	d.mu.Lock()
	for _, g := range d.index.segments {
		deleted += d.index.drop(g, func(k *kept) bool { return k.expires != 0 && k.expires <= micros(now) })
	}
	if l.Owner > 0 {
		deleted += d.index.dropOver(l.Owner)
	}
	d.mu.Unlock()
	n, err := d.removeOldest(ctx, l.Total)
	return deleted + n, err
}

// sealOld ends the segment that is written to when it is long or nothing in it is to stay:
// only then can it be deleted.
func (d *resultFolder) sealOld(total int64, now time.Time) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if total > 0 {
		d.most = min(max(total/8, minSegment), maxSegment)
	}
	if d.writer == nil {
		return nil
	}
	d.mu.Lock()
	g := d.index.segment(d.writer.number)
	stays := g.end <= d.most && slices.ContainsFunc(g.kept, func(k *kept) bool { return k.expires == 0 || k.expires > micros(now) })
	d.mu.Unlock()
	if stays {
		return nil
	}
	return d.seal()
}

// dropOver drops the oldest results of each owner that has more than so many bytes.
func (x *resultIndex) dropOver(most int64) (dropped int64) {
	var all []*kept
	for _, g := range x.segments {
		all = append(all, g.kept...)
	}
	slices.SortFunc(all, newestFirst)
	sums := map[uint64]int64{}
	over := map[*kept]bool{}
	for _, k := range all {
		sums[k.owner] += k.frame.size
		over[k] = sums[k.owner] > most
	}
	for _, g := range x.segments {
		dropped += x.drop(g, func(k *kept) bool { return over[k] })
	}
	return dropped
}

// removeOldest deletes the segments in which nothing is left, and then the oldest ones while
// all take more than so many bytes or hold more results than memory may know. The newest
// one stays: what was just kept is not to go with what is old.
func (d *resultFolder) removeOldest(ctx context.Context, most int64) (deleted int64, err error) {
	d.mu.Lock()
	all := d.index.oldestFirst()
	var total int64
	for _, g := range all {
		total += g.end
	}
	d.mu.Unlock()
	for i, g := range all {
		d.mu.Lock()
		falls := len(g.kept) == 0 || i < len(all)-1 && (most > 0 && total > most || d.index.count > maxKept)
		size := g.end
		d.mu.Unlock()
		if !falls || !d.mayRemove(g) {
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

// mayRemove tells whether nobody writes to the segment any more.
func (d *resultFolder) mayRemove(g *segment) bool {
	d.mu.Lock()
	ours, open := g.ours, g.open
	d.mu.Unlock()
	if ours {
		return !open
	}
	info, err := os.Stat(d.path(g.number))
	return err != nil || time.Since(info.ModTime()) > segmentAlone
}
