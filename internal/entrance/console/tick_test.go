package console_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
)

// fiveMB is a result that takes 5 MB, as one text or as structuredContent.
func fiveMB(structured bool) string {
	row := `{"id":"env-12345","name":"some name of it","list":[{"a":1.5,"b":"text","c":null},{"a":2,"b":"more text","c":true}],"url":"https://example.com/a/b/c"},`
	large := `{"rows":[` + strings.TrimSuffix(strings.Repeat(row, 4_200_000/len(row)), ",") + `]}` // with the escapes of a text
	if structured {
		return `{"content":[{"type":"text","text":"see there"}],"structuredContent":` + large + `}`
	}
	text, _ := json.Marshal(large) // a string can be written
	return `{"content":[{"type":"text","text":` + string(text) + `}]}`
}

// tick changes what is ticked on the page of a kept result.
func (w *world) tick(t testing.TB, ref string, form url.Values) string {
	t.Helper()
	r := httptest.NewRequest("POST", "/results/"+ref+"/try", strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	rec := httptest.NewRecorder()
	w.Config.Handler.ServeHTTP(rec, r)
	if rec.Code != 200 {
		t.Fatalf("HTTP %d: %.300s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func TestATickOnALongResultMakesNoCopyOfIt(t *testing.T) {
	w := newWorld(t, strings.Replace(demoConfig, "default: {}", "default: {budget: 0}", 1)) // cutting to one makes several of the part that is cut
	for _, structured := range []bool{false, true} {
		ref, body := fmt.Sprint("r_long", structured), fiveMB(structured)
		w.keep(t, ref, body)
		form := url.Values{"tool": {"shop__t"}, "way": {"keep"}, "from": {"ticks"}, "f": {"2", "3"}}
		if page := w.tick(t, ref, form); !strings.Contains(page, `data-mask="rows(id,name)"`) || strings.Contains(page, "notice") {
			t.Fatalf("structured %v: %.600s", structured, page)
		}
		least := uint64(math.MaxUint64)
		for range 10 { // rooms that are used again may be taken away between two
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w.tick(t, ref, form)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		t.Logf("structured %v: %d KB", structured, least>>10)
		if least > uint64(len(body)) {
			t.Errorf("structured %v: a tick takes %d bytes, the result has %d", structured, least, len(body))
		}
	}
}
