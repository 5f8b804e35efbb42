package openapi

import (
	"cmp"
	"math/big"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// appendScalar writes a YAML scalar as JSON. Only unquoted ones can be anything but strings.
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

// decimalForm matches a number of YAML's core schema. Infinity, which JSON lacks, and codes
// such as 007 are not numbers.
var decimalForm = regexp.MustCompile(`^(?:\+|(-))?(0|[1-9][0-9]*)?(?:(\.)([0-9]*))?([eE][-+]?[0-9]+)?$`)

// appendNumber writes a number with its original digits.
func appendNumber(dst []byte, s string) ([]byte, bool) {
	if digits := strings.TrimLeft(s, "+-."); digits == "" || digits[0] < '0' || digits[0] > '9' {
		return dst, false
	}
	for prefix, base := range map[string]int{"0x": 16, "0o": 8} {
		if digits, ok := strings.CutPrefix(s, prefix); ok {
			return appendInteger(dst, digits, base)
		}
	}
	m := decimalForm.FindStringSubmatch(s)
	if m == nil || m[2] == "" && m[4] == "" {
		return dst, false
	}
	dst = append(append(dst, m[1]...), cmp.Or(m[2], "0")...)
	if m[3] != "" {
		dst = append(append(dst, '.'), cmp.Or(m[4], "0")...)
	}
	return append(dst, m[5]...), true
}

func appendInteger(dst []byte, digits string, base int) ([]byte, bool) {
	const longest = 64 // digits
	if strings.ContainsAny(digits, "_+-") || len(digits) > longest {
		return dst, false
	}
	v, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return dst, false
	}
	return v.Append(dst, 10), true
}
