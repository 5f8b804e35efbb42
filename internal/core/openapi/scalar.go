package openapi

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// appendScalar writes a YAML scalar as JSON. Only plain ones can be anything but strings.
func appendScalar(dst []byte, n *yaml.Node) []byte {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	explicit := n.Style&yaml.TaggedStyle != 0
	if n.Style&quoted != 0 && !explicit || explicit && (n.Tag == "!!str" || n.Tag == "!!binary") {
		return rawjson.AppendString(dst, n.Value)
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return append(dst, "null"...)
	case "true", "True", "TRUE":
		return append(dst, "true"...)
	case "false", "False", "FALSE":
		return append(dst, "false"...)
	}
	if out, ok := appendNumber(dst, n.Value); ok {
		return out
	}
	return rawjson.AppendString(dst, n.Value)
}

// appendNumber writes a number of the core schema with the digits it has. What JSON cannot
// say (infinity), and what people write as a code (007), is no number.
func appendNumber(dst []byte, s string) ([]byte, bool) {
	sign, digits := "", strings.TrimPrefix(s, "+")
	if digits != "" && digits[0] == '-' && len(digits) == len(s) {
		sign, digits = "-", digits[1:]
	}
	if digits == "" || (digits[0] < '0' || digits[0] > '9') && digits[0] != '.' {
		return dst, false
	}
	if rest, hex := strings.CutPrefix(digits, "0x"); hex {
		return appendInteger(dst, rest, 16)
	}
	if rest, octal := strings.CutPrefix(digits, "0o"); octal {
		return appendInteger(dst, rest, 8)
	}
	whole, fraction, exponent, ok := splitNumber(digits)
	if !ok || len(whole) > 1 && whole[0] == '0' {
		return dst, false
	}
	if whole == "" {
		whole = "0"
	}
	dst = append(append(dst, sign...), whole...)
	if strings.IndexByte(digits, '.') >= 0 {
		if fraction == "" {
			fraction = "0"
		}
		dst = append(append(dst, '.'), fraction...)
	}
	return append(dst, exponent...), true
}

// maxLiteral bounds integers written in another base; longer ones are no numbers that anybody means.
const maxLiteral = 64

func appendInteger(dst []byte, digits string, base int) ([]byte, bool) {
	if strings.ContainsAny(digits, "_+-") || len(digits) > maxLiteral {
		return dst, false
	}
	v, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return dst, false
	}
	return v.Append(dst, 10), true
}

// splitNumber takes apart digits, an optional fraction and an optional exponent.
func splitNumber(s string) (whole, fraction, exponent string, ok bool) {
	i := digitsEnd(s, 0)
	whole = s[:i]
	if i < len(s) && s[i] == '.' {
		end := digitsEnd(s, i+1)
		fraction, i = s[i+1:end], end
	}
	if whole == "" && fraction == "" {
		return "", "", "", false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		start := i
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		end := digitsEnd(s, i)
		if end == i {
			return "", "", "", false
		}
		exponent, i = s[start:end], end
	}
	return whole, fraction, exponent, i == len(s)
}

func digitsEnd(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
