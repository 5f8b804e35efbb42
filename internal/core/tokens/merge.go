package tokens

// merge returns where the tokens of a piece end. Byte-pair encoding starts with a token per byte and puts two neighbours
// together as long as there are two that make a token, of the lowest rank first and of the leftmost. What could be put together
// waits in a heap, so that a long piece takes little more time per byte than a short one.
func (w *words) merge(piece []byte) (ends []int32) {
	m := merging{words: w, piece: piece, end: make([]int32, len(piece)), before: make([]int32, len(piece))}
	for i := range piece {
		m.end[i] = int32(i + 1)
		m.before[i] = int32(i - 1)
	}
	waiting := make(pairs, 0, len(piece)) // not in m: its growth would move the piece to the heap, too
	for i := range len(piece) - 1 {
		m.offer(int32(i), &waiting)
	}
	for len(waiting) > 0 {
		p := waiting.pop()
		if at := p.at(); m.pair(at) == p { // else one of the two has become another
			m.join(at, &waiting)
		}
	}
	for at := int32(0); int(at) < len(piece); at = m.end[at] {
		ends = append(ends, m.end[at])
	}
	return ends
}

// merging is a piece that is being merged. A token is known by where it starts.
type merging struct {
	words  *words
	piece  []byte
	end    []int32 // where a token ends and the next one starts; 0: it was put to the one before
	before []int32 // where the token before it starts
}

// pair is two neighbours, the first of which starts at a place: its low half is that place, its high half the rank of both together.
type pair uint64

func (p pair) at() int32 { return int32(uint32(p)) }

const noPair = pair(noRank) << 32

// pair is a token and the one behind it.
func (m *merging) pair(at int32) pair {
	middle := m.end[at]
	if middle == 0 || int(middle) == len(m.piece) {
		return noPair
	}
	return pair(m.words.rank(m.piece[at:m.end[middle]]))<<32 | pair(at)
}

func (m *merging) offer(at int32, to *pairs) {
	if p := m.pair(at); p < noPair {
		to.push(p)
	}
}

func (m *merging) join(at int32, to *pairs) {
	middle := m.end[at]
	m.end[at] = m.end[middle]
	m.end[middle] = 0
	if next := m.end[at]; int(next) < len(m.piece) {
		m.before[next] = at
		m.offer(at, to)
	}
	if at > 0 {
		m.offer(m.before[at], to)
	}
}

// pairs is a heap, the smallest first. That of the standard library would allocate for each.
type pairs []pair

func (h *pairs) push(p pair) {
	*h = append(*h, p)
	list := *h
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if list[up] <= list[i] {
			return
		}
		list[up], list[i] = list[i], list[up]
		i = up
	}
}

func (h *pairs) pop() pair {
	list := *h
	top := list[0]
	last := len(list) - 1
	list[0] = list[last]
	list = list[:last]
	*h = list
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(list) {
			return top
		}
		if down+1 < len(list) && list[down+1] < list[down] {
			down++
		}
		if list[i] <= list[down] {
			return top
		}
		list[i], list[down] = list[down], list[i]
		i = down
	}
}
