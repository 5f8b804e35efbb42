package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/stylesheet"
)

//go:embed static/*.css static/*.js static/vendor/*.js
var staticFiles embed.FS

const assetPath = "/-/"

// assets serves styles and scripts under names that contain a hash of their content, so that
// browsers may cache them forever.
type assets struct {
	files map[string][]byte // by hashed name
	paths map[string]string // by plain name, such as style.css
}

func loadAssets(basePath string) *assets {
	a := &assets{map[string][]byte{}, map[string]string{}}
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		a.add(basePath, path.Base(name), data)
		return nil
	})
	if err != nil {
		panic("console: " + err.Error()) // cannot happen: the files are embedded
	}
	a.add(basePath, stylesheet.Name, []byte(stylesheet.Text()))
	return a
}

func (a *assets) add(basePath, plain string, data []byte) {
	sum := sha256.Sum256(data)
	ext := path.Ext(plain)
	hashed := strings.TrimSuffix(plain, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.files[hashed] = data
	a.paths[plain] = basePath + assetPath + hashed
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
