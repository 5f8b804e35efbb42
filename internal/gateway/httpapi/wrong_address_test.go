package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestADescriptionThatIsNoneIsSaidAsItIs(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><html><head><title>Swagger UI</title></head>")
	}))
	defer s.Close()
	for spec, want := range map[string]string{
		s.URL + "/docs": `the description of API pets is a web page "Swagger UI" (name the document itself, such as …/openapi.json`,
		strings.Replace(s.URL, "http:", "https:", 1): "the description of API pets cannot be reached: it speaks http (write http:// in its address)",
	} {
		api, err := New(config.Server{ID: "pets", API: &config.API{Spec: spec}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer api.Close()
		if _, err := api.Count(t.Context()); err == nil || !strings.Contains(fault.As(err).Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
}
