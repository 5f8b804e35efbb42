package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"

	"github.com/toolfit/toolfit/internal/state/store"
)

// NewCipher makes a cipher for one purpose of a key; nil is a random key. If the key is several, as
// TOOLFIT_SECRET_KEY may be, the first seals, and all open.
func NewCipher(purpose string, key []byte) cipher.AEAD {
	if key == nil {
		key = make([]byte, sha256.Size)
		rand.Read(key)
		return newCipher(purpose, key)
	}
	texts := store.SplitKeys(string(key))
	if len(texts) == 1 {
		return newCipher(purpose, key)
	}
	r := ring{AEAD: newCipher(purpose, []byte(texts[0]))}
	for _, text := range texts[1:] {
		r.older = append(r.older, newCipher(purpose, []byte(text)))
	}
	return r
}

func newCipher(purpose string, key []byte) cipher.AEAD {
	sum := sha256.Sum256(append([]byte(purpose+"\x00"), key...))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		panic(err) // the key has the right size
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the right block size
	}
	return aead
}

// ring seals with one key, and opens what was sealed with older ones, too.
type ring struct {
	cipher.AEAD
	older []cipher.AEAD
}

// Open opens what any of the keys has sealed. It does not work in place: the text is needed for each try.
func (r ring) Open(dst, nonce, sealed, bound []byte) ([]byte, error) {
	text, err := r.AEAD.Open(nil, nonce, sealed, bound)
	for i := 0; err != nil && i < len(r.older); i++ {
		text, err = r.older[i].Open(nil, nonce, sealed, bound)
	}
	if err != nil {
		return nil, err
	}
	return append(dst, text...), nil
}
