package fit

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// decimal is an exact number, 0.digits × 10^exp. The digits neither begin nor end with a zero; zero
// has none.
type decimal struct {
	neg    bool
	digits []byte
	exp    int
}

// maxExp limits exponents, so that their sums do not overflow.
const maxExp = 1 << 40

// parseDecimal reads a valid JSON number. Integers are not copied.
func parseDecimal(raw []byte) decimal {
	const figures = "0123456789"
	d := decimal{neg: raw[0] == '-'}
	if d.neg {
		raw = raw[1:]
	}
	rest := bytes.TrimLeft(raw, figures)
	d.digits = raw[:len(raw)-len(rest)]
	d.exp = len(d.digits)
	if len(rest) > 0 && rest[0] == '.' {
		after := bytes.TrimLeft(rest[1:], figures)
		d.digits = append(slices.Clip(d.digits), rest[1:len(rest)-len(after)]...)
		rest = after
	}
	if len(rest) > 1 {
		exp, _ := strconv.ParseInt(string(rest[1:]), 10, 64) // on overflow, the nearest int64
		d.exp += int(max(-maxExp, min(maxExp, exp)))
	}
	significant := bytes.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(significant)
	d.digits = bytes.TrimRight(significant, "0")
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

// cmp compares d with e and returns -1, 0 or 1.
func (d decimal) cmp(e decimal) int {
	if d.sign() != e.sign() {
		return cmp.Compare(d.sign(), e.sign())
	}
	if d.neg {
		d, e = e, d
	}
	return cmp.Or(cmp.Compare(d.exp, e.exp), bytes.Compare(d.digits, e.digits))
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

// isInteger reports whether the number has no fraction: 1.0 and 1e3 are integers.
func (d decimal) isInteger() bool { return d.exp >= len(d.digits) }

// multipleOf reports whether d divided by e is an integer, without writing out large powers of ten.
func (d decimal) multipleOf(e decimal) bool {
	if d.sign() == 0 || e.sign() == 0 {
		return d.sign() == 0
	}
	a := d.mantissa()
	b := e.mantissa()
	shift := (d.exp - len(d.digits)) - (e.exp - len(e.digits))
	if shift < 0 {
		if -shift > len(d.digits) {
			return false // the divisor is larger than the number
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

// String writes the number, without an exponent unless it would be long.
func (d decimal) String() string {
	if len(d.digits) == 0 {
		return "0"
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	digits := string(d.digits)
	const most = 40 // zeros to write out
	switch {
	case d.exp > len(digits)+most || d.exp < -most:
		return sign + digits + "e" + strconv.Itoa(d.exp-len(digits))
	case d.exp >= len(digits):
		return sign + digits + strings.Repeat("0", d.exp-len(digits))
	case d.exp > 0:
		return sign + digits[:d.exp] + "." + digits[d.exp:]
	}
	return sign + "0." + strings.Repeat("0", -d.exp) + digits
}
