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

// PlainRun returns how many bytes from i on are plain in a string: the next is a quote, a
// backslash, a control character or the end of data.
func PlainRun(data []byte, i int) int {
	start := i
	for ; len(data)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		quote := x ^ ones*'"'
		slash := x ^ ones*'\\'
		// Subtracting 1 borrows from the top bit of a byte that is 0. Bits above the first such
		// byte may be wrong and are not used.
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

// skipEscaped is skipString from a backslash on. Results are often JSON inside a string, so 32 bytes in which backslashes stand
// before quotes and for white space only are skipped at once, and where there are others, eight with quotes only.
func skipEscaped(data []byte, i int) (int, error) {
	behind := uint64(0) // not zero: there is a backslash before the byte at i
	for again := i; len(data)-i >= 8; i += 8 {
		if i >= again && len(data)-i >= 32 && (behind != 0 || data[i-1] != '\\') {
			if isUsual((*[33]byte)(data[i-1:])) {
				if behind = 0; data[i+31] == '\\' {
					behind = 0x80
				}
				i += 24
				continue
			}
			again = i + 32
		}
		x := binary.LittleEndian.Uint64(data[i:])
		quotes := equal(x, '"')
		slashes := equal(x, '\\')
		escaped := slashes<<8 | behind
		if escaped^quotes|controls(x) == 0 {
			behind = slashes >> 56
			continue
		}
		ends := quotes &^ escaped
		if odd := controls(x) | slashes&escaped | escaped&^quotes; odd&(ends-1)&^ends == 0 { // before the first end
			return i + bits.TrailingZeros64(ends)/8 + 1, nil
		}
		to := i + 8
		if behind != 0 {
			i--
		}
		var ended bool
		var err error
		if i, ended, err = skipText(data, i, to); ended || err != nil {
			return i, err
		}
		i -= 8
		behind = 0
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

// isUsual reports whether all but the first of the bytes are text of a string in which each backslash, also the first byte,
// escapes a quote, or the n or t of white space.
func isUsual(b *[33]byte) bool {
	odd0, text0 := usual(binary.LittleEndian.Uint64(b[0:8]), binary.LittleEndian.Uint64(b[1:9]))
	odd1, text1 := usual(binary.LittleEndian.Uint64(b[8:16]), binary.LittleEndian.Uint64(b[9:17]))
	odd2, text2 := usual(binary.LittleEndian.Uint64(b[16:24]), binary.LittleEndian.Uint64(b[17:25]))
	odd3, text3 := usual(binary.LittleEndian.Uint64(b[24:32]), binary.LittleEndian.Uint64(b[25:33]))
	return (odd0|odd1|odd2|odd3|^(text0&text1&text2&text3))&tops == 0
}

// usual sets the top bit of odd for each byte of x that is an end or no usual escape, and that of text unless it is a control
// character. Before has the bytes before those of x.
func usual(before, x uint64) (odd, text uint64) {
	const lows = 0x7F * ones
	// The top bit of each is 0 where the byte is the wanted one.
	quote := (x&lows ^ ones*'"') + lows | x
	line := (x&lows ^ ones*'n') + lows
	tab := (x&lows ^ ones*'t') + lows
	slash := (before&lows ^ ones*'\\') + lows | before
	return slash ^ quote&(line&tab|x|slash), x&lows + 0x60*ones | x
}

// stringEnd is skipString for data that was validated before; 0 says that the string does not end.
// It looks only at quotes, 32 bytes at once: most follow a single backslash.
func stringEnd(data []byte, i int) int {
	start := i
	for i++; i < len(data); {
		if i-start >= 2 && len(data)-i >= 32 {
			d := data[i-2 : i+32 : i+32]
			ends := uint64(0)
			for k := 0; k < 32; k += 8 {
				quote := binary.LittleEndian.Uint64(d[k+2:]) ^ ones*'"'
				slash := binary.LittleEndian.Uint64(d[k+1:]) ^ ones*'\\'
				other := binary.LittleEndian.Uint64(d[k:]) ^ ones*'\\'
				// The top bit of each is 0 where the byte is the wanted one.
				quote = (quote&^tops + 0x7F*ones) | quote
				slash = (slash&^tops + 0x7F*ones) | slash
				other = (other&^tops + 0x7F*ones) | other
				ends |= ^quote & (slash | ^other)
			}
			if ends&tops == 0 {
				i += 32
				continue
			}
		}
		to := min(i+32, len(data))
		if isEscaped(data[start+1 : i]) { // the block may end within an escape
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

// isEscaped reports whether a backslash at the end of the text escapes what follows.
func isEscaped(text []byte) bool {
	n := len(text)
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return (len(text)-n)%2 == 1
}

// equal sets the top bit of each byte of x that is b.
func equal(x uint64, b byte) uint64 {
	x ^= ones * uint64(b)
	return ^((x&^tops + 0x7F*ones) | x) & tops
}

// controls sets the top bit of each byte of x that is a control character.
func controls(x uint64) uint64 { return ^((x&^tops + 0x60*ones) | x) & tops }

// skipText moves over the text of a string byte by byte, up to the offset or one escape further,
// and reports whether the string has ended.
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

// EscapeLength returns the length of the escape at the start of data, or 0.
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
