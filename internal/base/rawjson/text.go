package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// ones has the lowest bit of each byte set, and tops the highest.
const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// PlainRun is how many bytes from i on stand for themselves in a string: the next is a
// quote, a backslash, a control character or the end of data.
func PlainRun(data []byte, i int) int {
	start := i
	for ; len(data)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		// Taking away 1 borrows from the top bit of a byte that is 0. What is found above
		// the first such byte may be wrong; nobody looks there.
		if found := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8 - start
		}
	}
	for i < len(data) && data[i] >= 0x20 && data[i] != '"' && data[i] != '\\' {
		i++
	}
	return i - start
}

// skipString returns the end of the string that starts at i.
func skipString(data []byte, i int) (int, error) {
	i++
	if i += PlainRun(data, i); i < len(data) && data[i] == '"' {
		return i + 1, nil
	}
	return skipEscaped(data, i)
}

// skipEscaped is skipString from a backslash on. Results are often JSON inside a string, so
// that eight bytes in which each backslash stands before a quote are taken in one go.
func skipEscaped(data []byte, i int) (int, error) {
	behind := uint64(0) // not zero: a backslash stands before the byte at i
	for len(data)-i >= 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		quotes, slashes := equal(x, '"'), equal(x, '\\')
		escaped := slashes<<8 | behind
		ends := quotes &^ escaped
		if odd := controls(x) | slashes&escaped | escaped&^quotes; odd&(ends-1)&^ends != 0 { // before the first end
			to := i + 8
			if behind != 0 {
				i--
			}
			var ended bool
			var err error
			if i, ended, err = skipText(data, i, to); ended || err != nil {
				return i, err
			}
			behind = 0
			continue
		}
		if ends != 0 {
			return i + bits.TrailingZeros64(ends)/8 + 1, nil
		}
		i, behind = i+8, slashes>>56
	}
	if behind != 0 {
		i--
	}
	i, ended, err := skipText(data, i, len(data))
	if !ended && err == nil {
		err = syntax(i, "the end of a string")
	}
	return i, err
}

// stringEnd is skipString for data that was checked before; 0 says that the string does not end.
// It looks at quotes alone, 32 bytes in one go: most stand behind a single backslash.
func stringEnd(data []byte, i int) int {
	start := i
	for i++; i < len(data); {
		if i-start >= 2 && len(data)-i >= 32 {
			d, ends := data[i-2:i+32:i+32], uint64(0)
			for k := 0; k < 32; k += 8 {
				quote := binary.LittleEndian.Uint64(d[k+2:]) ^ ones*'"'
				slash := binary.LittleEndian.Uint64(d[k+1:]) ^ ones*'\\'
				other := binary.LittleEndian.Uint64(d[k:]) ^ ones*'\\'
				// The top bit of each is 0 where the byte is the one that is looked for.
				quote, slash, other = (quote&^tops+0x7F*ones)|quote, (slash&^tops+0x7F*ones)|slash, (other&^tops+0x7F*ones)|other
				ends |= ^quote & (slash | ^other)
			}
			if ends&tops == 0 {
				i += 32
				continue
			}
		}
		to := min(i+32, len(data))
		if isEscaped(data[start+1 : i]) { // what was taken in one go may end within an escape
			i++
		}
		for ; i < to; i++ {
			switch data[i] {
			case '"':
				return i + 1
			case '\\':
				i++
			}
		}
	}
	return 0
}

// isEscaped tells whether what follows the text is escaped by a backslash at its end.
func isEscaped(text []byte) bool {
	n := len(text)
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return (len(text)-n)%2 == 1
}

// equal has the top bit set of each byte of x that is b.
func equal(x uint64, b byte) uint64 {
	x ^= ones * uint64(b)
	return ^((x&^tops + 0x7F*ones) | x) & tops
}

// controls has the top bit set of each byte of x that is a control character.
func controls(x uint64) uint64 { return ^((x&^tops + 0x60*ones) | x) & tops }

// skipText goes over the text of a string byte by byte, up to the given place or one escape
// further, and tells whether the string has ended.
func skipText(data []byte, i, to int) (end int, ended bool, err error) {
	for i < to {
		switch c := data[i]; {
		case c == '"':
			return i + 1, true, nil
		case c < 0x20:
			return i, false, syntax(i, "no control character in a string")
		case c != '\\':
			i++
		default:
			n := EscapeLength(data[i:])
			if n == 0 {
				return i, false, syntax(i, "an escape")
			}
			i += n
		}
	}
	return i, false, nil
}

// EscapeLength is how many bytes the escape has that data starts with; 0 when it is none.
func EscapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(data) >= 6 && isHex(data[2]) && isHex(data[3]) && isHex(data[4]) && isHex(data[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
