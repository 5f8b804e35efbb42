package tokens_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/tokens"
)

// picture is an image of that size, as a server sends it.
func picture(t testing.TB, encode func(io.Writer, image.Image) error, w, h int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(b.Bytes()))
}

func asGIF(w io.Writer, m image.Image) error  { return gif.Encode(w, m, nil) }
func asJPEG(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }

// Three headers as libwebp writes them: lossy, lossless and extended, of 1280×720.
func asWebP(t testing.TB, chunk string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(map[string]string{
		"VP8 ": "52494646 00000000 57454250 56503820 00000000 300000 9d012a 0005 d002",
		"VP8L": "52494646 00000000 57454250 5650384c 00000000 2f ffc4b300 0000000000",
		"VP8X": "52494646 00000000 57454250 56503858 0a000000 10000000 ff0400 cf0200",
	}[chunk], " ", ""))
	if err != nil || len(b) < 30 {
		t.Fatal(len(b), err)
	}
	return []byte(base64.StdEncoding.EncodeToString(b))
}

func TestAnImageCostsWhatItsSizeCosts(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want int
	}{
		{"one tile", picture(t, png.Encode, 512, 512), 255},
		{"a pixel", picture(t, png.Encode, 1, 1), 255},
		{"four tiles, scaled down", picture(t, png.Encode, 1024, 1024), 765},
		{"a screenshot", picture(t, png.Encode, 1280, 720), 1105},
		{"a large screenshot costs no more", picture(t, png.Encode, 1920, 1080), 1105},
		{"GIF", picture(t, asGIF, 1280, 720), 1105},
		{"JPEG", picture(t, asJPEG, 1280, 720), 1105},
		{"WebP", asWebP(t, "VP8 "), 1105},
		{"WebP without loss", asWebP(t, "VP8L"), 1105},
		{"extended WebP", asWebP(t, "VP8X"), 1105},
		{"a long strip", picture(t, png.Encode, 10_000, 1), 85 + 4*170},
		{"no image", []byte(strings.Repeat("QUJD", 100)), 765},
		{"no base64", []byte("{}"), 765},
		{"nothing", nil, 765},
	} {
		if got := tokens.Image(c.data); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
}

func FuzzImage(f *testing.F) {
	for _, encode := range []func(io.Writer, image.Image) error{png.Encode, asGIF, asJPEG} {
		f.Add(picture(f, encode, 3, 2))
	}
	for _, chunk := range []string{"VP8 ", "VP8L", "VP8X"} {
		f.Add(asWebP(f, chunk))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := tokens.Image(data); n < 85 || n > 85+170*4*2 {
			t.Errorf("%d tokens", n)
		}
		if n := tokens.Sound(data); n < 0 || n > len(data) {
			t.Errorf("%d tokens of sound", n)
		}
	})
}
