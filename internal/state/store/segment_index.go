package store

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// kept is what memory knows of one result. Texts are there as sums: what they find is
// compared again when it is read.
type kept struct {
	segment                               *segment
	frame                                 keptFrame
	at, expires                           int64
	ref, owner, call, tool, session, rule uint64
	older                                 *kept // the one before with the same ref
}

// keptFrame is where the frame is.
type keptFrame struct{ offset, size int64 }

// segment is a file and the results in it that can still be read.
type segment struct {
	number int
	ours   bool  // this process made it, and knows all of it
	open   bool  // and still writes to it
	end    int64 // as far as it is known
	kept   []*kept
}

// newest is when its last result was kept.
func (g *segment) newest() int64 {
	if len(g.kept) == 0 {
		return 0
	}
	return g.kept[len(g.kept)-1].at
}

// resultIndex knows where the results are. It is guarded by its user.
type resultIndex struct {
	seed     maphash.Seed
	segments map[int]*segment
	byRef    map[uint64]*kept // the newest with this ref
	count    int
}

func newResultIndex() *resultIndex {
	return &resultIndex{seed: maphash.MakeSeed(), segments: map[int]*segment{}, byRef: map[uint64]*kept{}}
}

func (x *resultIndex) sum(text string) uint64 { return maphash.String(x.seed, text) }

// segment returns the segment with this number, a new one when there is none.
func (x *resultIndex) segment(number int) *segment {
	if x.segments[number] == nil {
		x.segments[number] = &segment{number: number}
	}
	return x.segments[number]
}

// add notes a frame at the end of its segment.
func (x *resultIndex) add(g *segment, f frame) {
	m := &f.about
	k := &kept{
		segment: g, frame: keptFrame{f.offset, f.size()}, at: m.At, expires: m.Expires, ref: x.sum(m.Ref), owner: x.sum(m.Owner),
		call: x.sum(m.Call), tool: x.sum(m.Tool), session: x.sum(m.Session), rule: x.sum(m.Rule),
	}
	k.older, x.byRef[k.ref] = x.byRef[k.ref], k
	g.kept = append(g.kept, k)
	g.end = f.offset + f.size()
	x.count++
}

// has tells whether the owner has something with this ref.
func (x *resultIndex) has(owner, ref string) bool {
	sum := x.sum(owner)
	for k := x.byRef[x.sum(ref)]; k != nil; k = k.older {
		if k.owner == sum {
			return true
		}
	}
	return false
}

// drop forgets those that fall, and returns how many they were.
func (x *resultIndex) drop(g *segment, falls func(*kept) bool) int64 {
	before := len(g.kept)
	g.kept = slices.DeleteFunc(g.kept, func(k *kept) bool {
		if !falls(k) {
			return false
		}
		x.unlink(k)
		return true
	})
	n := before - len(g.kept)
	x.count -= n
	return int64(n)
}

// forget drops a segment that is no longer there.
func (x *resultIndex) forget(g *segment) int64 {
	delete(x.segments, g.number)
	return x.drop(g, func(*kept) bool { return true })
}

func (x *resultIndex) unlink(k *kept) {
	first := x.byRef[k.ref]
	if first == k {
		if k.older == nil {
			delete(x.byRef, k.ref)
			return
		}
		x.byRef[k.ref] = k.older
		return
	}
	for ; first.older != k; first = first.older {
	}
	first.older = k.older
}

// oldestFirst returns the segments by when their last result was kept.
func (x *resultIndex) oldestFirst() []*segment {
	var all []*segment
	for _, g := range x.segments {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Or(cmp.Compare(a.newest(), b.newest()), a.number-b.number) })
	return all
}

// newestFirst sorts results; of two of one microsecond the order is any, but always the same.
func newestFirst(a, b *kept) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.ref, a.ref)) }

// find returns what may match, the newest first.
func (x *resultIndex) find(f *ResultFilter, now time.Time) ([]*kept, error) {
	at, ref, err := parseCursor(f.Before)
	if err != nil {
		return nil, err
	}
	last := &kept{at: at, ref: x.sum(ref)}
	texts := [...]string{f.Owner, f.Call, f.Tool, f.Session, f.Rule}
	var sums [len(texts)]uint64
	for i, text := range texts {
		sums[i] = x.sum(text)
	}
	var found []*kept
	look := func(k *kept) {
		if k.expires != 0 && k.expires <= micros(now) || k.at < micros(f.Since) || f.Before != "" && newestFirst(last, k) >= 0 {
			return
		}
		for i, sum := range [...]uint64{k.owner, k.call, k.tool, k.session, k.rule} {
			if texts[i] != "" && sums[i] != sum {
				return
			}
		}
		found = append(found, k)
	}
	if f.Ref != "" {
		for k := x.byRef[x.sum(f.Ref)]; k != nil; k = k.older {
			look(k)
		}
	} else {
		for _, g := range x.segments {
			for _, k := range g.kept {
				look(k)
			}
		}
	}
	slices.SortFunc(found, newestFirst)
	return found, nil
}
