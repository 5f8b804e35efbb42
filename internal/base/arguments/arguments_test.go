package arguments

import (
	"math"
	"testing"
)

func TestParseWhole(t *testing.T) {
	tests := []struct {
		name, in string
		want     int64
		ok       bool
	}{
		{"every digit of a large one counts", "9007199254740993", 9007199254740993, true},
		{"the largest", "9223372036854775807", math.MaxInt64, true},
		{"one more is none", "9223372036854775808", 0, false},
		{"an exponent", "3e2", 300, true},
		{"a float past 2^53 has lost its digits", "9.007199254740993e15", 0, false},
		{"a float well past 2^53", "1e300", 0, false},
		{"words that only floats know", "Inf", 0, false},
		{"nothing", "", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := parseWhole(tt.in); got != tt.want || ok != tt.ok {
				t.Errorf("got %d, %t", got, ok)
			}
		})
	}
}
