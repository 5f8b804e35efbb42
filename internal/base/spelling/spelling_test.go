package spelling

import (
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0},
		{"label", "label", 3, 0},
		{"label", "lable", 3, 1},
		{"label", "labels", 3, 1},
		{"label", "lbl", 3, 2},
		{"label", "xyz", 3, 3},
		{"", "abc", 9, 3},
		{"ca", "abc", 9, 3}, // a swapped pair is not edited again
		{"订单列表", "订单表列", 3, 1},
		{"订单", "订単", 3, 1},
		{"abc", "abc", 0, 0},
		{strings.Repeat("x", MaxLetters), strings.Repeat("x", MaxLetters), 3, 0},
		{strings.Repeat("x", MaxLetters+1), strings.Repeat("x", MaxLetters+1), 3, 3},
		{strings.Repeat("单", MaxLetters), strings.Repeat("单", MaxLetters-1), 3, 1},
	} {
		if got := Edits(tc.a, tc.b, tc.limit); got != tc.want {
			t.Errorf("Edits(%q, %q, %d) = %d, want %d", tc.a, tc.b, tc.limit, got, tc.want)
		}
	}
}

// FuzzEdits holds: the way back is as long, no longer than to write the word anew, and a
// limit changes nothing below it.
func FuzzEdits(f *testing.F) {
	f.Add("label", "lable", 2)
	f.Add("订单", "order", 1)
	f.Add("a\xff", "\xffa", 1)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		limit &= 0xff
		const none = 2 * MaxLetters
		whole := Edits(a, b, none)
		if back := Edits(b, a, none); back != whole {
			t.Fatalf("%d there, %d back", whole, back)
		}
		if whole < none && whole > max(len([]rune(a)), len([]rune(b))) {
			t.Fatalf("%d edits between %q and %q", whole, a, b)
		}
		if got := Edits(a, b, limit); got != min(whole, limit) {
			t.Fatalf("%d with limit %d, %d without", got, limit, whole)
		}
	})
}

func TestEditsTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { Edits("list_orders", "listOrders", 4) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
