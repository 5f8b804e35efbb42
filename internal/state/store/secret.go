package store

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	minSecretKey = 16 // characters
	keyIDSize    = 4

	sealedPlain  = 0 // the text follows
	sealedAESGCM = 1 // the key's id, the nonce, and the text in AES-256-GCM follow
)

// SecretKey encrypts secrets in the store. The zero value is no key. It never prints the key.
type SecretKey struct {
	aead  cipher.AEAD
	audit []byte          // makes the hashes of the audit log
	id    [keyIDSize]byte // tells which key, and nothing about it
	older []SecretKey     // that open what was sealed with them
}

// ParseSecretKey makes a key from TOOLFIT_SECRET_KEY: 32 bytes in hex or base64, or else any text of
// at least 16 characters, without surrounding space. Of several the first seals, and all open.
func ParseSecretKey(text string) (SecretKey, error) {
	var all []SecretKey
	for _, one := range SplitKeys(text) {
		k, err := parseKey(one)
		if err != nil {
			return SecretKey{}, err
		}
		all = append(all, k)
	}
	all[0].older = all[1:]
	return all[0], nil
}

// SplitKeys returns the keys in TOOLFIT_SECRET_KEY, of which there is at least one. They are separated by commas or
// space; but what is too short for a key is part of one, because people choose several words. Where there are
// several, the last is the whole text: it may have been one key until now.
func SplitKeys(text string) []string {
	text = strings.TrimSpace(text)
	var keys []string
	for _, part := range splitKeys(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		keys = append(keys, splitKeys(part, unicode.IsSpace)...)
	}
	if len(keys) == 1 && keys[0] == text {
		return keys
	}
	return append(keys, text)
}

func splitKeys(text string, isBorder func(rune) bool) (keys []string) {
	for _, part := range strings.FieldsFunc(text, isBorder) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if utf8.RuneCountInString(part) < minSecretKey {
			return []string{text}
		}
		keys = append(keys, part)
	}
	if keys == nil {
		return []string{text}
	}
	return keys
}

func parseKey(text string) (SecretKey, error) {
	material := rawKey(text)
	if material == nil {
		if utf8.RuneCountInString(text) < minSecretKey {
			return SecretKey{}, fault.New(fault.BadConfig, "TOOLFIT_SECRET_KEY has fewer than %d characters", minSecretKey).
				WithHint("make one: openssl rand -hex 32")
		}
		material = []byte(text)
	}
	derived, err := hkdf.Key(sha256.New, material, nil, "toolfit store secrets, version 1", 32+keyIDSize)
	if err != nil {
		return SecretKey{}, fmt.Errorf("derive secret key: %w", err)
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		return SecretKey{}, fmt.Errorf("use secret key: %w", err)
	}
	audit, err := hkdf.Key(sha256.New, material, nil, "toolfit audit log, version 1", 32)
	if err != nil {
		return SecretKey{}, fmt.Errorf("derive audit key: %w", err)
	}
	k := SecretKey{id: [keyIDSize]byte(derived[32:]), audit: audit}
	if k.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return SecretKey{}, fmt.Errorf("use secret key: %w", err)
	}
	return k, nil
}

// rawKey decodes the text to 32 bytes; nil if it is something else.
func rawKey(text string) []byte {
	decoders := []func(string) ([]byte, error){hex.DecodeString}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		decoders = append(decoders, enc.DecodeString)
	}
	for _, decode := range decoders {
		if raw, err := decode(text); err == nil && len(raw) == 32 {
			return raw
		}
	}
	return nil
}

// IsZero tells whether there is no key.
func (k SecretKey) IsZero() bool { return k.aead == nil }

// Format keeps the key out of every message, whatever the verb.
func (k SecretKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret key]") }

// seal encrypts the text if there is a key, and binds it to its row: it is useless in another one.
func (k SecretKey) seal(row string, text []byte) []byte { return k.appendSealed(nil, row, text) }

// appendSealed appends the sealed text to b.
func (k SecretKey) appendSealed(b []byte, row string, text []byte) []byte {
	if k.IsZero() {
		return append(append(b, sealedPlain), text...)
	}
	start := len(b)
	b = append(append(b, sealedAESGCM), k.id[:]...)
	return k.aead.Seal(b, nil, text, boundTo(b[start:], row))
}

// open returns the text that was sealed for the row. Its errors call it what.
func (k SecretKey) open(what, row string, sealed []byte) ([]byte, error) {
	const headSize = 1 + keyIDSize
	switch {
	case len(sealed) > 0 && sealed[0] == sealedPlain:
		return bytes.Clone(sealed[1:]), nil
	case len(sealed) > 0 && sealed[0] > sealedAESGCM:
		return nil, fault.New(fault.BadConfig, "%s was stored by a newer toolfit", what).WithHint("use the newer toolfit that wrote it")
	case len(sealed) < headSize:
		return nil, damaged(what)
	case k.IsZero():
		return nil, fault.New(fault.BadConfig, "%s is stored encrypted", what).
			WithHint("set TOOLFIT_SECRET_KEY to the key that it was stored with")
	case !bytes.Equal(sealed[1:headSize], k.id[:]):
		for _, one := range k.older {
			if bytes.Equal(sealed[1:headSize], one.id[:]) {
				return one.open(what, row, sealed)
			}
		}
		return nil, fault.New(fault.BadConfig, "%s is stored encrypted with another key", what).
			WithHint("set TOOLFIT_SECRET_KEY to the key that it was stored with, or add it again")
	}
	text, err := k.aead.Open([]byte{}, nil, sealed[headSize:], boundTo(sealed[:headSize], row))
	if err != nil {
		return nil, damaged(what)
	}
	return text, nil
}

func damaged(what string) error {
	return fault.New(fault.BadConfig, "%s is stored damaged", what).WithHint("restore the store from a backup, or add it again")
}

// boundTo is what is authenticated with the text: how it was sealed, and for which row.
func boundTo(head []byte, row string) []byte {
	return append(bytes.Clone(head), row...)
}
