package toon

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// key writes a name, in quotes where it is more than a plain word.
func (w *writer) key(name []byte) {
	if isWord(name) {
		w.out = append(w.out, name...)
		return
	}
	w.quoted(string(name))
}

func isWord(name []byte) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return len(name) > 0
}

// scalar writes a string, a number, a boolean or null.
func (w *writer) scalar(value []byte) {
	switch value[0] {
	case '"':
		s, _ := rawjson.String(value)
		w.text(strings.ToValidUTF8(s, "\ufffd"))
	case 't', 'f', 'n':
		w.out = append(w.out, value...)
	default:
		w.out = append(w.out, number(value)...)
	}
}

// text writes a string, without quotes where it cannot be taken for anything else.
func (w *writer) text(s string) {
	switch {
	case s == "", s == "true", s == "false", s == "null", s[0] == '-', strings.TrimSpace(s) != s, likeNumber(s),
		strings.ContainsAny(s, ":\"\\[]{},"), strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }):
		w.quoted(s)
	default:
		w.out = append(w.out, s...)
	}
}

func (w *writer) quoted(s string) {
	w.out = append(w.out, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			w.out = append(w.out, '\\', byte(r))
		case '\n':
			w.out = append(w.out, `\n`...)
		case '\r':
			w.out = append(w.out, `\r`...)
		case '\t':
			w.out = append(w.out, `\t`...)
		default:
			w.out = append(w.out, string(r)...)
		}
	}
	w.out = append(w.out, '"')
}

// likeNumber reports whether a reader could take a word for a number.
func likeNumber(s string) bool {
	return s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.eE+-") == ""
}

// maxExponent bounds the zeros that a number is written with.
const maxExponent = 400

// number writes a number without an exponent and without zeros that say nothing.
func number(value []byte) []byte {
	if i := bytes.IndexAny(value, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(string(value[i+1:]))
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return value
		}
		r, ok := new(big.Rat).SetString(string(value))
		if !ok {
			return value
		}
		value = []byte(r.FloatString(max(0, len(value)-exponent)))
	}
	if bytes.IndexByte(value, '.') >= 0 {
		value = bytes.TrimRight(bytes.TrimRight(value, "0"), ".")
	}
	if string(value) == "-0" || len(value) == 0 {
		return []byte("0")
	}
	return value
}
