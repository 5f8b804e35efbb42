package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// BackupPath is a free path for a backup beside the file.
func BackupPath(path string, now time.Time) string {
	name := path + ".toolfit-backup-" + now.Format("20060102-150405")
	free := name
	for i := 2; i < 100; i++ {
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			break
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
	return free
}

// WriteBackup writes the text of the file to its backup, a new file that only the user can read: it
// may have secrets that are taken out of the file.
func WriteBackup(path, backup string, text []byte) error {
	f, err := os.OpenFile(backup, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(text)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			err = errors.Join(err, os.Remove(backup))
		}
	}
	if err != nil {
		return fmt.Errorf("keep a backup of %s: %w", path, err)
	}
	return nil
}
