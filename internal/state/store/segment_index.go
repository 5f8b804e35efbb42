package store

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"time"
)

// indexEntry is what memory holds of one stored result. Texts are hashed; a match is compared
// with the real text when the result is read.
type indexEntry struct {
	segment     *segment
	frame       framePlace
	at, expires int64
	hashes      [len(resultKeys)]uint64
	older       *indexEntry // the previous one with the same ref
}

func (e *indexEntry) expired(now time.Time) bool { return e.expires != 0 && e.expires <= micros(now) }

// framePlace is where a frame is in its segment.
type framePlace struct{ offset, size int64 }

// segment is a file and the results in it that can still be read.
type segment struct {
	number  int
	ours    bool  // this process created it and knows all of it
	open    bool  // and still writes to it
	end     int64 // of what is known of it
	entries []*indexEntry
}

// newest is when its last result was stored.
func (g *segment) newest() int64 {
	if len(g.entries) == 0 {
		return 0
	}
	return g.entries[len(g.entries)-1].at
}

// resultIndex knows where the results are. Its user locks it.
type resultIndex struct {
	seed     maphash.Seed
	segments map[int]*segment
	byRef    map[uint64]*indexEntry // the newest with this ref
	count    int
}

func newResultIndex() *resultIndex {
	return &resultIndex{seed: maphash.MakeSeed(), segments: map[int]*segment{}, byRef: map[uint64]*indexEntry{}}
}

func (x *resultIndex) hash(text string) uint64 { return maphash.String(x.seed, text) }

// segment returns the segment with this number, a new one if there is none.
func (x *resultIndex) segment(number int) *segment {
	if x.segments[number] == nil {
		x.segments[number] = &segment{number: number}
	}
	return x.segments[number]
}

// add adds the frame to the end of its segment.
func (x *resultIndex) add(g *segment, f frame) {
	e := &indexEntry{segment: g, frame: framePlace{f.offset, f.size()}, at: micros(f.about.At), expires: micros(f.about.Expires)}
	for i, text := range f.about.texts() {
		e.hashes[i] = x.hash(text)
	}
	ref := e.hashes[refKey]
	e.older = x.byRef[ref]
	x.byRef[ref] = e
	g.entries = append(g.entries, e)
	g.end = f.offset + f.size()
	x.count++
}

// has tells whether the owner has a result with this ref.
func (x *resultIndex) has(owner, ref string) bool {
	hash := x.hash(owner)
	for e := x.byRef[x.hash(ref)]; e != nil; e = e.older {
		if e.hashes[ownerKey] == hash {
			return true
		}
	}
	return false
}

// drop removes the entries that goes chooses, and returns how many.
func (x *resultIndex) drop(g *segment, goes func(*indexEntry) bool) int64 {
	before := len(g.entries)
	g.entries = slices.DeleteFunc(g.entries, func(e *indexEntry) bool {
		if !goes(e) {
			return false
		}
		x.unlink(e)
		return true
	})
	n := before - len(g.entries)
	x.count -= n
	return int64(n)
}

// forget removes a segment that no longer exists.
func (x *resultIndex) forget(g *segment) int64 {
	delete(x.segments, g.number)
	return x.drop(g, func(*indexEntry) bool { return true })
}

// unlink takes the entry out of the list of those with its ref.
func (x *resultIndex) unlink(e *indexEntry) {
	ref := e.hashes[refKey]
	first := x.byRef[ref]
	switch {
	case first != e:
		for ; first.older != e; first = first.older {
		}
		first.older = e.older
	case e.older == nil:
		delete(x.byRef, ref)
	default:
		x.byRef[ref] = e.older
	}
}

// oldestFirst sorts the segments by when their last result was stored.
func (x *resultIndex) oldestFirst() []*segment {
	return slices.SortedFunc(maps.Values(x.segments), func(a, b *segment) int {
		return cmp.Or(cmp.Compare(a.newest(), b.newest()), a.number-b.number)
	})
}

// all returns every entry, the newest first.
func (x *resultIndex) all() (entries []*indexEntry) {
	for _, g := range x.segments {
		entries = append(entries, g.entries...)
	}
	slices.SortFunc(entries, newestFirst)
	return entries
}

// newestFirst sorts results. Those of the same microsecond have an arbitrary but stable order.
func newestFirst(a, b *indexEntry) int {
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.hashes[refKey], a.hashes[refKey]))
}

// find returns what may match, the newest first.
func (x *resultIndex) find(f *ResultFilter, now time.Time) ([]*indexEntry, error) {
	at, ref, err := parseCursor(f.Before)
	if err != nil {
		return nil, err
	}
	last := &indexEntry{at: at}
	last.hashes[refKey] = x.hash(ref)
	texts := f.texts()
	var hashes [len(resultKeys)]uint64
	for i, text := range texts {
		hashes[i] = x.hash(text)
	}
	matches := func(e *indexEntry) bool {
		for i := range texts {
			if texts[i] != "" && hashes[i] != e.hashes[i] {
				return false
			}
		}
		return !e.expired(now) && e.at >= micros(f.Since) && (f.Before == "" || newestFirst(last, e) < 0)
	}
	var found []*indexEntry
	if f.Ref != "" {
		for e := x.byRef[hashes[refKey]]; e != nil; e = e.older {
			if matches(e) {
				found = append(found, e)
			}
		}
	} else {
		for _, g := range x.segments {
			for _, e := range g.entries {
				if matches(e) {
					found = append(found, e)
				}
			}
		}
	}
	slices.SortFunc(found, newestFirst)
	return found, nil
}
