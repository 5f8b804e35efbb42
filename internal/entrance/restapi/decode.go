package restapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// decode reads one JSON value and refuses members that nobody would look at. Its errors
// speak of the text, not of what we read it into.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return rawjson.InWords(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}
