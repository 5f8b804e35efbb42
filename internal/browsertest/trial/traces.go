package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// maxTrace is the longest file of a recording in which secrets are looked for.
const maxTrace = 256 << 20

// SaveTraces copies the traces that a playwright server has written since a time, to the same folder
// or another one, with secrets masked. Pictures stay as they are.
func SaveTraces(from, to string, since time.Time, secrets []string) error {
	k := keeping{from: from, to: to, since: since}
	if len(secrets) > 0 {
		k.mask = steps.NewVars(nil)
	}
	for _, s := range secrets {
		k.mask.Hide(s)
	}
	if real, err := filepath.EvalSymlinks(from); err == nil { // a walk does not go through a link
		k.from = real
		if from == to {
			k.to = real
		}
	}
	var left []error // one that cannot be kept must not keep the others from it
	filepath.WalkDir(k.from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = k.keep(path, d)
		}
		if err != nil && !os.IsNotExist(err) { // where nothing was recorded there is no folder
			left = append(left, fmt.Errorf("look for secrets in the trace: %w", err))
		}
		return nil
	})
	return errors.Join(left...)
}

// keeping is how files are kept.
type keeping struct {
	from, to string
	since    time.Time
	mask     *steps.Vars // nil: there are no secrets
}

func (k *keeping) keep(path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil || info.ModTime().Before(k.since) {
		return err
	}
	name, err := filepath.Rel(k.from, path)
	if err != nil {
		return err
	}
	target := filepath.Join(k.to, name)
	switch asItIs := k.mask == nil || slices.Contains(pictures, strings.ToLower(filepath.Ext(path))); {
	case asItIs && target == path:
		return nil
	case asItIs:
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return place(target, f, info.Mode().Perm())
	case info.Size() > maxTrace && target == path:
		return fmt.Errorf("%s is too long, and is left as it is", path)
	case info.Size() > maxTrace:
		return fmt.Errorf("%s is too long, and is not kept", name)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	masked := maskRecording(path, string(data), k.mask)
	if target == path && masked == string(data) {
		return nil
	}
	return place(target, strings.NewReader(masked), info.Mode().Perm())
}

// place writes a file beside where it belongs, and puts it there when it is whole.
func place(path string, content io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

var pictures = []string{".png", ".jpeg", ".jpg", ".webp"}

// recordings are the files that a viewer reads line by line. In all others every place counts.
var recordings = []string{".trace", ".network"}

// maskRecording masks the lines of a trace and keeps them valid JSON.
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
