package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
)

// NewCipher makes a cipher for one purpose of a key; nil is a random key.
func NewCipher(purpose string, key []byte) cipher.AEAD {
	if key == nil {
		key = make([]byte, sha256.Size)
		rand.Read(key)
	}
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
