package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestACommandWhoseOutputIsLostDidNotWork(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"call", "x", "--url"}} {
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"id": "c_1", "result": {"content": [{"type": "text", "text": "hello"}]}}`))
		}))
		if args[0] == "call" {
			args = append(args, gateway.URL)
		}
		var said bytes.Buffer
		code := Run(t.Context(), args, &Env{Out: full{}, Err: &said, Lookup: os.LookupEnv})
		if code != 1 || said.String() == "" || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%v: exit code %d, %q", args, code, said.String())
		}
		gateway.Close()
	}
}

func TestWhoEndsACommandIsNotToldToStartAGateway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer gateway.Close()
	var out, said bytes.Buffer
	code := Run(ctx, []string{"tools", "--url", gateway.URL}, &Env{Out: &out, Err: &said, Lookup: os.LookupEnv})
	if code != 1 || !strings.Contains(said.String(), "canceled before an answer arrived") || strings.Contains(said.String(), "serve") {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}

func TestTheLineAboutTheWaitingIsGoneBeforeTheFirstByte(t *testing.T) {
	var out bytes.Buffer
	o := &output{to: &out}
	calls := 0
	o.before(func() { calls++; out.WriteString("|") })
	for _, word := range []string{"a", "b"} {
		if _, err := o.Write([]byte(word)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "|ab" || calls != 1 || o.lost() != nil {
		t.Errorf("%q after %d calls, %v", out.String(), calls, o.lost())
	}
}
