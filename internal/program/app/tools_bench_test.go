//go:build unix

package app

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
)

func cpu() time.Duration {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use) // never fails for the process itself
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkToolsOf20000 measures what people and services ask for about a profile with 20,000 tools: the CPU
// time of the first answer, and of those after it.
func BenchmarkToolsOf20000(b *testing.B) {
	cfg := manyTools(b, 40, 15)
	a, err := New(b.Context(), cfg, &Options{LocalSecret: access.NewLocalSecret()})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	handler := a.Handler()
	ask := func(path string, cookies []*http.Cookie) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		r.RemoteAddr = "127.0.0.1:1"
		for _, c := range cookies {
			r.AddCookie(c)
		}
		handler.ServeHTTP(w, r)
		return w
	}
	cookies := ask(a.SignInLink(), nil).Result().Cookies()
	for _, path := range []string{
		"/api/v1/tools", "/api/v1/tools?q=tool_499", "/api/v1/tools?for=openai", "/api/v1/tools?limit=50",
		"/api/v1/prompt", "/api/v1/prompt?budget=4000", "/api/v1/prompt?format=sig", "/api/v1/prompt?format=md",
		"/api/v1/prompt?format=json", "/api/v1/search?q=what+it+does", "/api/v1/search?q=" + url.QueryEscape("读取文件，然后列出任务"),
		"/tools", "/tools?page=300", "/tools?q=limit", "/prompt", "/prompt/text?budget=4000",
	} {
		b.Run(strings.TrimPrefix(path, "/"), func(b *testing.B) {
			get := func() {
				w := ask(path, cookies)
				if w.Code != http.StatusOK {
					b.Fatalf("%d: %.200s", w.Code, w.Body)
				}
			}
			before := cpu()
			get()
			first := cpu() - before
			before = cpu()
			for b.Loop() {
				get()
			}
			b.ReportMetric(float64(first.Microseconds())/1000, "first-cpu-ms")
			b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
