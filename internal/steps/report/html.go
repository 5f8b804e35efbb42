package report

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/toolfit/toolfit/internal/steps/run"
)

//go:embed report.html
var page string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms":      func(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) },
	"picture": picture,
	"open":    func(s run.Status) bool { return s == run.Failed || s == run.Broken },
	"raw":     func(b []byte) string { return string(b) },
	"percent": func(s run.Share) string {
		if s.All == 0 {
			return "–"
		}
		return fmt.Sprintf("%d of %d", s.OK, s.All)
	},
}).Parse(page))

// HTML writes one page that needs nothing beside itself and runs no script.
func HTML(w io.Writer, results []*run.Result) error {
	err := tmpl.Execute(w, struct {
		Totals  Totals
		Results []*run.Result
	}{Count(results), results})
	if err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// picture is an image as an address. Only what a server calls a picture becomes one.
func picture(i *run.Image) template.URL {
	return template.URL("data:" + i.Kind() + ";base64," + base64.StdEncoding.EncodeToString(i.Data))
}
