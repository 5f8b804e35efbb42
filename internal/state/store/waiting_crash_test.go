//go:build unix

package store_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// longWaiting has a body whose length and bytes follow from its number.
func longWaiting(i int) store.Waiting {
	w := sampleWaiting(i)
	w.Body = bytes.Repeat([]byte{'a' + byte(i%26)}, 1+i*7919%30_000)
	w.Expires = time.Now().Add(time.Hour)
	return w
}

// waitUntilKilled adds calls from four goroutines, ends every third, and prints each that is
// acknowledged.
func waitUntilKilled(path string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	errs := make(chan error, 4)
	for n := range 4 {
		go func() {
			for i := n; ; i += 4 {
				w := longWaiting(i)
				if err := s.AddWaiting(ctx, w, store.WaitingLimits{Owner: 1 << 20, Total: 1 << 20}); err != nil {
					errs <- err
					return
				}
				w.State = store.Completed
				w.Answer = w.Body
				if i%3 == 0 {
					if saved, err := s.SaveWaiting(ctx, &w); err != nil || !saved {
						errs <- fmt.Errorf("save %d: %v, %w", i, saved, err)
						return
					}
				}
				fmt.Println(i)
			}
		}()
	}
	return <-errs
}

func TestKilledGatewayLosesNoAcknowledgedWaitingCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	gateway := exec.Command(os.Args[0])
	gateway.Env = append(os.Environ(), waitEnv+"="+path)
	gateway.Stderr = os.Stderr
	out, err := gateway.StdoutPipe()
	check(t, err)
	check(t, gateway.Start())
	acknowledged := readUntilKilled(t, gateway, bufio.NewScanner(out))
	s := open(t, path, nil)
	for _, i := range acknowledged {
		want := longWaiting(i)
		got, err := s.Waiting(t.Context(), want.Owner, want.ID)
		if err != nil || !bytes.Equal(got.Body, want.Body) || got.Ended() != (i%3 == 0) || got.Ended() != bytes.Equal(got.Answer, want.Body) {
			t.Fatalf("call %d of %d acknowledged: %v", i, len(acknowledged), err)
		}
	}
}
