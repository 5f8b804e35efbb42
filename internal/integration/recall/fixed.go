package recall

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/store"
)

// sealer encrypts parameters into the address of a tool, so that any replica can serve it without
// state.
type sealer struct {
	box   cipher.AEAD
	mac   []byte
	older []*sealer // that open what was sealed with older keys
}

// maxSealed limits a sealed text: proxies accept URLs of 8 KB.
const maxSealed = 6 << 10

// maxFixed limits the parameters in a sealed text.
const maxFixed = 1 << 20

func newSealer(key []byte) (*sealer, error) {
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key)
		return sealerOf(key)
	}
	var all []*sealer
	for _, text := range store.SplitKeys(string(key)) {
		one, err := sealerOf([]byte(text))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	all[0].older = all[1:]
	return all[0], nil
}

func sealerOf(key []byte) (*sealer, error) {
	block, err := aes.NewCipher(derive(key, "recall seal"))
	if err != nil {
		return nil, fmt.Errorf("make recall: %w", err)
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make recall: %w", err)
	}
	return &sealer{box: box, mac: derive(key, "recall nonce")}, nil
}

func derive(key []byte, use string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, use)
	return h.Sum(nil)
}

// scope identifies the tool that a text is sealed for. It is invalid for any other.
func scope(server, name string) []byte {
	return fmt.Appendf(nil, "%d %s %s", len(server), server, name)
}

// close seals the parameters, deterministically so that responses can be compared. It returns
// false if they are too large for a URL.
func (s *sealer) close(scope []byte, fixed raw) (string, bool) {
	if len(fixed) > maxFixed {
		return "", false
	}
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestCompression) // the level exists
	z.Write(fixed)
	z.Close()
	h := hmac.New(sha256.New, s.mac)
	h.Write(scope)
	h.Write([]byte{0})
	h.Write(packed.Bytes())
	nonce := h.Sum(nil)[:s.box.NonceSize()]
	text := base64.RawURLEncoding.EncodeToString(s.box.Seal(nonce, nonce, packed.Bytes(), scope))
	return text, len(text) <= maxSealed
}

// open returns the parameters; false if the text was not sealed here for the tool.
func (s *sealer) open(scope []byte, text string) (raw, bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(sealed) < s.box.NonceSize() {
		return nil, false
	}
	n := s.box.NonceSize()
	packed, err := s.box.Open(nil, sealed[:n], sealed[n:], scope)
	for i := 0; err != nil && i < len(s.older); i++ {
		packed, err = s.older[i].box.Open(nil, sealed[:n], sealed[n:], scope)
	}
	if err != nil {
		return nil, false
	}
	fixed, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxFixed+1))
	return fixed, err == nil && rawjson.Check(fixed) == nil
}

// merge adds the fixed parameters to the arguments, replacing those of the same name.
func merge(args, fixed raw) raw {
	names := keys(fixed)
	if len(names) == 0 {
		return args
	}
	out := filtered(args, func(name string, value raw) raw { return unless(names[name], value) })
	out = out[:len(out)-1]
	for w := rawjson.Object(fixed); w.Next(); {
		out = member(out, string(w.Key), w.Value)
	}
	return append(out, '}')
}

// keys returns the names of an object's members.
func keys(in raw) map[string]bool {
	names := map[string]bool{}
	for w := rawjson.Object(in); w.Next(); {
		names[string(w.Key)] = true
	}
	return names
}
