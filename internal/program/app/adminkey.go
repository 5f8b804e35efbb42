package app

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/state/access"
)

// TakeAdminKey stores the administrator's key that the environment has, if it has one. It is called before
// anything is served.
func (a *App) TakeAdminKey(ctx context.Context) error {
	text, err := a.adminKey()
	if err != nil || text == "" {
		return err
	}
	k, err := access.GivenKey(text)
	if err != nil {
		return err
	}
	a.secrets.add([]string{text})
	k.CreatedAt = time.Now()
	if err := a.Store.GiveKey(ctx, k); err != nil {
		return err
	}
	return a.Keys.Reload(ctx)
}

// maxKeyFile is more than any key has.
const maxKeyFile = 4 << 10

// adminKey is the text in the variable, or in the file that the other one names. No error repeats what they hold:
// people mix them up.
func (a *App) adminKey() (string, error) {
	const fileVariable = access.AdminKeyVariable + "_FILE"
	text, _ := a.env(access.AdminKeyVariable)
	path, _ := a.env(fileVariable)
	switch {
	case path == "":
		return strings.TrimSpace(text), nil
	case text != "":
		return "", fault.New(fault.BadConfig, "both %s and %s are set", access.AdminKeyVariable, fileVariable).WithHint("remove one of them")
	}
	data, err := regular.Read(path, maxKeyFile)
	var why *fs.PathError
	if errors.As(err, &why) {
		err = why.Err
	}
	if err == nil && len(data) > maxKeyFile {
		err = errors.New("it is too large")
	}
	if err == nil && len(strings.TrimSpace(string(data))) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fault.New(fault.BadConfig, "the file that %s names cannot be used: %w", fileVariable, err).
			WithHint("put a key into it: toolfit keys generate")
	}
	return strings.TrimSpace(string(data)), nil
}
