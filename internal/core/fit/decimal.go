package fit

import (
	"math/big"
	"strconv"
)

// decimal is a number exactly as it is written: 0.digits times ten to the exp. Its digits
// neither begin nor end with a zero; zero has none. No size of exponent costs anything.
type decimal struct {
	neg    bool
	digits []byte
	exp    int
}

// maxExp bounds exponents, so that their sums stay far from the end of int.
const maxExp = 1 << 40

// parseDecimal reads a valid JSON number. Integers are not copied.
func parseDecimal(raw []byte) decimal {
	var d decimal
	if raw[0] == '-' {
		d.neg, raw = true, raw[1:]
	}
	whole, i := raw, 0
	for i < len(raw) && raw[i] >= '0' && raw[i] <= '9' {
		i++
	}
	whole, raw = raw[:i], raw[i:]
	d.digits, d.exp = whole, len(whole)
	if len(raw) > 0 && raw[0] == '.' {
		for i = 1; i < len(raw) && raw[i] >= '0' && raw[i] <= '9'; i++ {
		}
		d.digits = append(whole[:len(whole):len(whole)], raw[1:i]...)
		raw = raw[i:]
	}
	if len(raw) > 1 {
		d.exp += exponent(raw[1:])
	}
	for len(d.digits) > 0 && d.digits[0] == '0' {
		d.digits, d.exp = d.digits[1:], d.exp-1
	}
	for n := len(d.digits); n > 0 && d.digits[n-1] == '0'; n-- {
		d.digits = d.digits[:n-1]
	}
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func exponent(raw []byte) int {
	if raw[0] == '+' {
		raw = raw[1:]
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil && raw[0] == '-' {
		return -maxExp
	} else if err != nil {
		return maxExp
	}
	return int(max(-maxExp, min(maxExp, n)))
}

// cmp is -1, 0 or 1 as d is less than, equal to or more than e.
func (d decimal) cmp(e decimal) int {
	if a, b := d.sign(), e.sign(); a != b {
		return compare(a, b)
	}
	if d.neg {
		d, e = e, d
	}
	if d.exp != e.exp {
		return compare(d.exp, e.exp)
	}
	return compare(string(d.digits), string(e.digits))
}

func compare[T int | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// isInteger tells whether nothing stands behind the point: 1.0 and 1e3 are integers.
func (d decimal) isInteger() bool { return d.exp >= len(d.digits) }

// multipleOf tells whether d divided by e is an integer. It never writes out a power of ten
// that is larger than the digits at hand.
func (d decimal) multipleOf(e decimal) bool {
	if d.sign() == 0 || e.sign() == 0 {
		return d.sign() == 0
	}
	a, b := d.mantissa(), e.mantissa()
	shift := (d.exp - len(d.digits)) - (e.exp - len(e.digits))
	if shift < 0 {
		if -shift > len(d.digits) {
			return false // the divisor is larger than what it should divide
		}
		b.Mul(b, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-shift)), nil))
		return a.Mod(a, b).Sign() == 0
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), b)
	return a.Mul(a, power).Mod(a, b).Sign() == 0
}

func (d decimal) mantissa() *big.Int {
	n, _ := new(big.Int).SetString(string(d.digits), 10) // digits only
	return n
}

// times multiplies exactly.
func (d decimal) times(e decimal) decimal {
	if d.sign() == 0 || e.sign() == 0 {
		return decimal{}
	}
	product := new(big.Int).Mul(d.mantissa(), e.mantissa())
	out := parseDecimal([]byte(product.String()))
	out.neg = d.neg != e.neg
	out.exp += (d.exp - len(d.digits)) + (e.exp - len(e.digits))
	return out
}

// String writes the number without an exponent where that is short.
func (d decimal) String() string {
	if len(d.digits) == 0 {
		return "0"
	}
	out := make([]byte, 0, 32)
	if d.neg {
		out = append(out, '-')
	}
	const most = 40 // zeros to write out
	switch {
	case d.exp > len(d.digits)+most || d.exp < -most:
		out = append(out, d.digits...)
		return string(append(out, "e"+strconv.Itoa(d.exp-len(d.digits))...))
	case d.exp >= len(d.digits):
		out = append(out, d.digits...)
		for range d.exp - len(d.digits) {
			out = append(out, '0')
		}
	case d.exp > 0:
		out = append(append(append(out, d.digits[:d.exp]...), '.'), d.digits[d.exp:]...)
	default:
		out = append(out, "0."...)
		for range -d.exp {
			out = append(out, '0')
		}
		out = append(out, d.digits...)
	}
	return string(out)
}
