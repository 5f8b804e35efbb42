package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image/jpeg"
	"io"
)

// The cost of an image as OpenAI documents it for GPT-4o at high detail: the image is scaled
// to fit a square of 2048 pixels, then to a short side of 768, and cut into tiles of 512.
// Other models are of the same order: Claude one token per 750 pixels, Gemini 258 per tile of
// 768.
const (
	imageCost  = 85
	tileCost   = 170
	tileSide   = 512
	longSide   = 2048
	shortSide  = 768
	unreadable = imageCost + 4*tileCost // unknown format: as 1024×1024
)

// Image estimates the tokens of an image in base64. It reads only the header.
func Image(base64 []byte) int {
	w, h := dimensions(base64)
	if w <= 0 || h <= 0 {
		return unreadable
	}
	long := float64(max(w, h))
	short := float64(min(w, h))
	scale := min(1, longSide/long)
	scale = min(scale, shortSide/short)
	return imageCost + tileCost*tiles(long*scale)*tiles(short*scale)
}

func tiles(side float64) int { return (max(1, int(side)) + tileSide - 1) / tileSide }

// soundBytes is the base64 size of a token of audio: Gemini documents 32 tokens per second,
// and a second of usual quality takes 16 KB.
const soundBytes = 16_000 / 32 * 4 / 3

// Sound estimates the tokens of an audio recording in base64.
func Sound(base64 []byte) int { return (len(base64) + soundBytes - 1) / soundBytes }

// maxHeader limits how much of a JPEG is searched for its size: a profile or preview may come
// first.
const maxHeader = 256 << 10

// dimensions returns the width and height of a PNG, GIF, WebP or JPEG; otherwise 0, 0.
func dimensions(text []byte) (w, h int) {
	var head [30]byte
	n, err := base64.StdEncoding.Decode(head[:], text[:min(len(text), 40)])
	if err != nil && n < 10 {
		return 0, 0
	}
	switch b := head[:n]; {
	case n >= 24 && string(b[:8]) == "\x89PNG\r\n\x1a\n":
		return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case n >= 10 && string(b[:4]) == "GIF8":
		return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	case n >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return webp(b)
	case n >= 3 && string(b[:3]) == "\xff\xd8\xff":
		in := io.LimitReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)), maxHeader)
		if c, err := jpeg.DecodeConfig(in); err == nil {
			return c.Width, c.Height
		}
	}
	return 0, 0
}

// webp reads the size from the first chunk: extended, lossless, or lossy.
func webp(b []byte) (w, h int) {
	switch string(b[12:16]) {
	case "VP8X": // both minus one, 24 bits each
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	case "VP8L": // both minus one, 14 bits each
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3FFF), 1 + int(bits>>14&0x3FFF)
	case "VP8 ": // 14 bits each, below two bits of scale
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3FFF), int(binary.LittleEndian.Uint16(b[28:]) & 0x3FFF)
	}
	return 0, 0
}
