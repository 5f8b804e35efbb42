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

// assetPath is where the files of the pages are.
const assetPath = "/-/"

// assets serves styles and scripts under names that change with what is in them, so that
// browsers may keep them for good.
type assets struct {
	files map[string][]byte // by the name with its hash
	paths map[string]string // by the plain name, such as style.css
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
		panic("console: " + err.Error()) // embedded, so it is there
	}
	a.add(basePath, stylesheet.Name, []byte(stylesheet.Text()))
	return a
}

// add puts a file under a name that has its hash.
func (a *assets) add(basePath, plain string, data []byte) {
	sum := sha256.Sum256(data)
	ext := path.Ext(plain)
	hashed := strings.TrimSuffix(plain, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.files[hashed], a.paths[plain] = data, basePath+assetPath+hashed
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
