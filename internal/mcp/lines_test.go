package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string // a line, or the size of one that was too long
	}{
		{"lines end at a line break", "a\nb\r\n", []string{"a", "b"}},
		{"blank lines do not count", "\n\r\n\na\n\n", []string{"a"}},
		{"a last line without an end counts", "a\nb", []string{"a", "b"}},
		{"a line of the limit is whole", strings.Repeat("x", 100) + "\nb", []string{strings.Repeat("x", 100), "b"}},
		{"a line over the limit is dropped, and the next one read", strings.Repeat("x", 200) + "\nb\n", []string{"201 bytes", "b"}},
		{"a line over the limit may be the last", "a\n" + strings.Repeat("x", 200_000), []string{"a", "200000 bytes"}},
		{"nothing", "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines := NewLines(iotest.HalfReader(strings.NewReader(c.in)), 100)
			var got []string
			for {
				line, err := lines.Next()
				var long *LongLineError
				if errors.As(err, &long) {
					got = append(got, fmt.Sprint(long.Size, " bytes"))
					continue
				}
				if err != nil {
					break
				}
				got = append(got, string(line))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %.300q\nwant %.300q", got, c.want)
			}
		})
	}
}

// FuzzLines holds: no line is over the limit, none holds its end, and all that fit are there.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nb\r\n"), 3)
	f.Add([]byte(strings.Repeat("x", 300)+"\ny"), 10)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit = 1 + (limit&0xffff+0x10000)%0x10000
		lines, got := NewLines(iotest.HalfReader(bytes.NewReader(data)), limit), 0
		for {
			line, err := lines.Next()
			var long *LongLineError
			switch {
			case errors.Is(err, io.EOF):
				want := 0
				for _, l := range bytes.Split(data, []byte("\n")) {
					if len(bytes.TrimRight(l, "\r\n")) > 0 {
						want++
					}
				}
				if got != want {
					t.Fatalf("%d lines, want %d", got, want)
				}
				return
			case errors.As(err, &long):
				if long.Size <= int64(limit) || len(long.Head) > keepEnds || len(long.Tail) > keepEnds {
					t.Fatalf("%+v", long)
				}
				if len(bytes.TrimRight(long.Tail, "\r\n")) == 0 && bytes.Trim(long.Head, "\r\n") == nil {
					continue
				}
			case err != nil:
				t.Fatal(err)
			case len(line) > limit+2 || bytes.ContainsRune(line, '\n'):
				t.Fatalf("line of %d bytes, limit %d", len(line), limit)
			}
			got++
		}
	})
}

func TestEvents(t *testing.T) {
	const in = ":comment\n\nevent: message\nid: 7\ndata: a\ndata:b\ndata\nretry: 15\n\n" +
		"data: {\"x\":1}\r\n\r\nid: only\n\nunknown: x\n\ndata: never ended\n"
	events := NewEvents(strings.NewReader(in), 100)
	var got []string
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", ev.Name, ev.ID, ev.Data, ev.Retry))
	}
	want := []string{"message|7|a\nb\n|15ms", `||{"x":1}|0s`, "|only||0s"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestEventOverTheLimitIsToldOnceAndTheNextIsRead(t *testing.T) {
	line := "data: " + strings.Repeat("x", 60) + "\n"
	for name, long := range map[string]string{
		"of many lines":          strings.Repeat(line, 7),
		"of one line":            "data: " + strings.Repeat("x", 200) + "\n",
		"of a long line in many": line + "data: " + strings.Repeat("x", 200) + "\n" + strings.Repeat(line, 3),
	} {
		events := NewEvents(strings.NewReader(long+"\ndata: next\n\n"), 100)
		_, first := events.Next()
		ev, err := events.Next()
		if !IsTooLong(first) || err != nil || string(ev.Data) != "next" {
			t.Errorf("%s: %v, then %q, %v", name, first, ev.Data, err)
		}
	}
}

// FuzzEvents holds: reading ends, and no event has more data than the limit.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\ndata: b\n\n"), 5)
	f.Add([]byte("event: x\nid\nretry: 99999999999999999999\ndata\n\n:\n\n"), 5)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit = 1 + (limit&0xfff+0x1000)%0x1000
		events := NewEvents(bytes.NewReader(data), limit)
		for range len(data) + 2 {
			ev, err := events.Next()
			if err != nil && !IsTooLong(err) {
				return
			}
			if len(ev.Data) > limit+len("data: ")+2 {
				t.Fatalf("%d bytes of data, limit %d", len(ev.Data), limit)
			}
		}
		t.Fatal("it does not end")
	})
}
