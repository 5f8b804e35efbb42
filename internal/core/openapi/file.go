package openapi

import (
	"encoding/base64"
	"mime"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// file is a file given as an argument.
type file struct {
	name, contentType string
	content           []byte
}

// readFile reads a file: base64 text, a data URL, or an object with text or data.
func readFile(n *node, pointer string) (f file, err error) {
	data := n
	if n.Kind == jsonschema.Object {
		text := n.Get("text")
		data = n.Get("data")
		if (data == nil) == (text == nil) {
			return f, badArgument(pointer, "a file has either text or data")
		}
		f.name = n.Str("filename")
		f.contentType = n.Str("contentType")
		if f.contentType != "" {
			if _, _, err := mime.ParseMediaType(f.contentType); err != nil {
				return f, badArgument(pointer+"/contentType", "%q is not a media type", f.contentType)
			}
		}
		if text != nil {
			f.content = []byte(atom(text))
			return f, nil
		}
		pointer += "/data"
	}
	if data.Kind != jsonschema.String {
		return f, badArgument(pointer, "the content of a file is base64 text")
	}
	text := data.Text
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		head, body, _ := strings.Cut(rest, ",")
		media, isBase64 := strings.CutSuffix(head, ";base64")
		if _, _, err := mime.ParseMediaType(media); err == nil && f.contentType == "" {
			f.contentType = media
		}
		text = body
		if !isBase64 {
			f.content = []byte(jsonschema.Unescape(body))
			return f, nil
		}
	}
	f.content, err = decodeBase64(text)
	if err != nil {
		return f, badArgument(pointer, "the content of a file is not base64: %w", err)
	}
	return f, nil
}

// decodeBase64 accepts both alphabets, with or without padding and line breaks.
func decodeBase64(s string) ([]byte, error) {
	s = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", " ", "", "\t", "").Replace(s)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}
