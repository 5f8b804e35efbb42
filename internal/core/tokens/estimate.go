package tokens

// The cost of each kind of byte, in hundredths of a token. A run of letters costs one token,
// plus a fifth for each letter after the sixth; a capital after a lower-case letter starts a
// new run.
const (
	digitCost    = 40
	runeCost     = 85 // a non-ASCII character
	alphabetCost = 35 // a character of a non-Latin alphabet: several make a token
	newlineCost  = 50
	spaceCost    = 1 // spaces merge with the next word; long runs of them do not
	otherCost    = 55
	runCost      = 100
	longCost     = 20
	longAfter    = 6
)

// The states: outside a run of letters, or inside one, by its length (up to longAfter) and
// whether the last letter was lower case.
const (
	outside = 0
	small   = 1
	capital = small + longAfter
	states  = 16 // a power of two, to avoid bounds checks
)

// steps holds, per state and byte, the next state in the low four bits and the cost above. One
// load per byte keeps the estimate at memory speed; the table is 8 KB.
var steps = func() (t [states][256]uint16) {
	for state := range capital + longAfter {
		for b := range 256 {
			next, cost := step(state, byte(b))
			t[state][b] = uint16(cost<<4 | next)
		}
	}
	return t
}()

func step(state int, b byte) (next, cost int) {
	isSmall := b >= 'a' && b <= 'z'
	isCapital := b >= 'A' && b <= 'Z'
	if !isSmall && !isCapital {
		return outside, byteCost(b)
	}
	length := 0 // of the run before this letter
	if state >= capital {
		length = state - capital + 1
	} else if state >= small && !isCapital {
		length = state - small + 1
	}
	switch length {
	case 0:
		cost = runCost
	case longAfter:
		cost = longCost
		length--
	}
	if isSmall {
		return small + length, cost
	}
	return capital + length, cost
}

func byteCost(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return digitCost
	case b >= 0xCE && b <= 0xE0: // from Greek to Thai
		return alphabetCost
	case b >= 0xC0:
		return runeCost
	case b >= 0x80: // continuation bytes
		return 0
	case b == ' ':
		return spaceCost
	case b == '\n':
		return newlineCost
	}
	return otherCost
}

// Estimate estimates the tokens of a text: JSON, prose or Chinese. A text that is not empty has at least one.
func Estimate[T string | []byte](text T) int {
	return max(min(len(text), 1), int((Hundredths(text)+50)/100))
}

// Hundredths is Estimate in hundredths of a token. Texts that do not end in a letter can be added up.
func Hundredths[T string | []byte](text T) uint64 {
	sum := uint64(0)
	if len(text) >= 256 {
		var done int
		done, sum = fourAtOnce(text)
		text = text[done:]
	}
	state := uint16(outside)
	for i := range len(text) {
		s := steps[state&15][text[i]]
		state = s
		sum += uint64(s >> 4)
	}
	return sum
}

// sample is how many bytes Sampled reads in each of four places.
const sample = 1 << 10

// Sampled is a rough Estimate: of a long text it reads only the start, the end and two places
// in between.
func Sampled[T string | []byte](text T) int {
	if len(text) <= 6*sample {
		return Estimate(text)
	}
	apart := (len(text) - sample) / 3
	n := sideBySide(text[:sample], text[apart:][:sample], text[2*apart:][:sample], text[len(text)-sample:])
	return int((n*uint64(len(text))/(4*sample) + 50) / 100)
}

// fourAtOnce sums four quarters in parallel: each byte depends on the one before it, so one
// quarter alone would leave most of the processor idle. Quarters end outside of runs, so that
// the sum is the same; a single endless word is not processed.
func fourAtOnce[T string | []byte](text T) (done int, sum uint64) {
	quarter := len(text) / 4
	var from [4]int
	for k := 1; k < 4; k++ {
		from[k] = k * quarter
		for isLetter(text[from[k]-1]) {
			from[k]--
			if from[k] <= from[k-1] {
				return 0, 0
			}
		}
	}
	return len(text), sideBySide(text[:from[1]], text[from[1]:from[2]], text[from[2]:from[3]], text[from[3]:])
}

// sideBySide returns the cost of four texts together, in hundredths of a token.
func sideBySide[T string | []byte](a, b, c, d T) (sum uint64) {
	n := min(len(a), len(b), len(c), len(d))
	tail := [4]T{a[n:], b[n:], c[n:], d[n:]}
	a = a[:n]
	b = b[:n]
	c = c[:n]
	d = d[:n]
	var p, q, r, s uint16
	for i := range n {
		p = steps[p&15][a[i]]
		q = steps[q&15][b[i]]
		r = steps[r&15][c[i]]
		s = steps[s&15][d[i]]
		sum += uint64(p>>4) + uint64(q>>4) + uint64(r>>4) + uint64(s>>4)
	}
	for k, state := range [4]uint16{p, q, r, s} {
		for i := range len(tail[k]) {
			state = steps[state&15][tail[k][i]]
			sum += uint64(state >> 4)
		}
	}
	return sum
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
