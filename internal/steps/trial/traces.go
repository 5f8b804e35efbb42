package trial

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/steps"
)

// maxTrace is the longest file of a recording in which secrets are looked for.
const maxTrace = 256 << 20

// MaskFiles takes secrets out of the files of a folder that were written since a time. The
// playwright server records what was typed into its traces. Pictures stay as they are.
func MaskFiles(dir string, since time.Time, secrets []string) error {
	if len(secrets) == 0 {
		return nil
	}
	mask := steps.NewVars(nil)
	for _, s := range secrets {
		mask.Hide(s)
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // nothing was recorded
		}
		if err != nil || !d.Type().IsRegular() || slices.Contains(pictures, strings.ToLower(filepath.Ext(path))) {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return fmt.Errorf("look for secrets in the trace: %w", err)
		case info.ModTime().Before(since):
			return nil
		case info.Size() > maxTrace:
			return fmt.Errorf("%s is too long to look for secrets in it", path)
		}
		return maskFile(path, info.Mode(), mask)
	})
}

var pictures = []string{".png", ".jpeg", ".jpg", ".webp"}

func maskFile(path string, mode fs.FileMode, mask *steps.Vars) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("look for secrets in the trace: %w", err)
	}
	masked := mask.Mask(string(data))
	if masked == string(data) {
		return nil
	}
	if err := os.WriteFile(path, []byte(masked), mode.Perm()); err != nil {
		return fmt.Errorf("take secrets out of the trace: %w", err)
	}
	return nil
}
