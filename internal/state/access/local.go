package access

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// LocalSecret lets local callers administer while there are no keys. It is in a file that only
// its user can read, so sending it proves to be that user.
type LocalSecret string

const secretPrefix = "tfl_"

// NewLocalSecret makes a secret.
func NewLocalSecret() LocalSecret {
	return LocalSecret(secretPrefix + strings.ToLower(rand.Text()+rand.Text()))
}

// is compares in constant time. The secret "" matches nothing.
func (s LocalSecret) is(text string) bool {
	return s != "" && subtle.ConstantTimeCompare([]byte(s), []byte(text)) == 1
}

// secretFile is the name of the file in the user's folder.
const secretFile = "local-secret"

// ReadLocalSecret reads the secret in the folder. Without one the error is an fs.ErrNotExist.
func ReadLocalSecret(folder string) (LocalSecret, error) {
	return readSecret(filepath.Join(folder, secretFile))
}

// OpenLocalSecret reads the secret in the folder, and creates both if they are missing. A file
// that others can read is refused.
func OpenLocalSecret(folder string) (LocalSecret, error) {
	path := filepath.Join(folder, secretFile)
	secret, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the local secret: %w", err)
	}
	if err := writeOnce(path, string(NewLocalSecret())+"\n"); err != nil {
		return "", fmt.Errorf("write the local secret: %w", err)
	}
	return readSecret(path) // ours, or one that another process wrote first
}

func readSecret(path string) (LocalSecret, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	unusable := func(why string) error {
		return fault.New(fault.BadConfig, "the local secret %s %s", path, why).WithHint("delete it; the next start makes a new one")
	}
	if !info.Mode().IsRegular() {
		return "", unusable("is not a regular file")
	}
	if why := exposed(info); why != "" {
		return "", unusable(why)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the local secret: %w", err)
	}
	secret := LocalSecret(strings.TrimSpace(string(text)))
	if !strings.HasPrefix(string(secret), secretPrefix) || len(secret) < 40 || len(secret) > maxSecret {
		return "", unusable("does not hold a secret")
	}
	return secret, nil
}

// writeOnce writes a file atomically, unless it exists.
func writeOnce(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), secretFile+"-*") // readable by its owner only
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(f.Name(), path) // a file system without links
	}
	return nil
}
