package openapi

import (
	"encoding/binary"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func TestEveryByteOfLatin1IsReadAsOthersReadIt(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	want, err := charmap.Windows1252.NewDecoder().Bytes(all)
	if got := decodeLatin(all); err != nil || got != string(want) {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}

func TestUTF16IsReadAsOthersReadIt(t *testing.T) {
	for _, text := range []string{"", "\x00a", "\x4f\x60\x59\x7d", "\xd8\x3d\xde\x00", "\xd8\x3d\x00a", "\x00a\xde\x00", "\x00a\x00", "\xd8\x3d"} {
		want, err := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().String(text)
		if got := decodeUTF16([]byte(text), binary.BigEndian); err != nil || got != want {
			t.Errorf("%x: got %q, want %q, %v", text, got, want, err)
		}
	}
}
