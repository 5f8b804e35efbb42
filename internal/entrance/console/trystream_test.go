package console

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheStreamOfASilentCallStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		s := newTryStream(w)
		time.Sleep(keepAlive - time.Second)
		s.tell(tryEvent{Call: "c"})
		time.Sleep(2*keepAlive + time.Second)
		s.end(tryEvent{Tried: "x"})
		time.Sleep(2 * keepAlive)
		const want = "data: {\"call\":\"c\"}\n\n:\n\n:\n\ndata: {\"tried\":\"x\"}\n\n"
		if got := w.Body.String(); got != want {
			t.Errorf("the stream is %s", strings.ReplaceAll(got, "\n", "|"))
		}
	})
}
