package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	if real, err := filepath.EvalSymlinks(dir); err == nil { // a walk does not go through a link
		dir = real
	}
	var left []error // one that cannot be masked must not keep the others from it
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = maskEntry(path, d, since, mask)
		}
		if err != nil && !os.IsNotExist(err) { // where nothing was recorded there is no folder
			left = append(left, fmt.Errorf("look for secrets in the trace: %w", err))
		}
		return nil
	})
	return errors.Join(left...)
}

func maskEntry(path string, d fs.DirEntry, since time.Time, mask *steps.Vars) error {
	if !d.Type().IsRegular() || slices.Contains(pictures, strings.ToLower(filepath.Ext(path))) {
		return nil
	}
	info, err := d.Info()
	if err != nil || info.ModTime().Before(since) {
		return err
	}
	if info.Size() > maxTrace {
		return fmt.Errorf("%s is too long, and is left as it is", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if masked := maskRecording(path, string(data), mask); masked != string(data) {
		return os.WriteFile(path, []byte(masked), info.Mode().Perm())
	}
	return nil
}

var pictures = []string{".png", ".jpeg", ".jpg", ".webp"}

// recordings are the files that a viewer reads line by line. In all others every place counts.
var recordings = []string{".trace", ".network"}

// maskRecording masks the lines of a recording so that it can still be read: a port may be
// part of a time, too.
func maskRecording(path, text string, mask *steps.Vars) string {
	if !slices.Contains(recordings, filepath.Ext(path)) {
		return mask.Mask(text)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		masked := mask.Mask(line)
		if !json.Valid([]byte(masked)) {
			values := scalars.ReplaceAllStringFunc(line, func(value string) string { return maskScalar(value, mask) })
			if json.Valid([]byte(values)) {
				masked = values
			}
		}
		b.WriteString(masked)
	}
	return b.String()
}

// scalars are the strings, numbers and words of JSON.
var scalars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.\w]+`)

// maskScalar masks in a string, and a number that is the secret.
func maskScalar(value string, mask *steps.Vars) string {
	if text, isString := strings.CutPrefix(value, `"`); isString {
		return `"` + mask.Mask(strings.TrimSuffix(text, `"`)) + `"`
	}
	if masked := mask.Mask(value); masked != value && strings.Trim(masked, "•") == "" {
		return `"` + masked + `"`
	}
	return value
}
