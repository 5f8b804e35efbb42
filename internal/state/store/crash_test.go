//go:build unix

package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolfit/toolfit/internal/state/store"
)

// The test binary runs itself as another process of the store; each variable names the file.
const (
	crashEnv      = "TOOLFIT_TEST_CRASH_STORE"
	secondEnv     = "TOOLFIT_TEST_SECOND_STORE"
	keepEnv       = "TOOLFIT_TEST_CRASH_RESULTS"
	secondKeepEnv = "TOOLFIT_TEST_SECOND_RESULTS"
	waitEnv       = "TOOLFIT_TEST_CRASH_WAITING"
	migrateEnv    = "TOOLFIT_TEST_CRASH_MIGRATION"
)

func TestMain(m *testing.M) {
	others := map[string]func(string) error{
		crashEnv: writeUntilKilled, secondEnv: writeAsSecond, keepEnv: keepUntilKilled, secondKeepEnv: keepAsSecond,
		waitEnv: waitUntilKilled, migrateEnv: migrateUntilKilled,
	}
	for env, other := range others {
		if path := os.Getenv(env); path != "" {
			if err := other(path); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// writeAsSecond writes what the second of two processes writes.
func writeAsSecond(path string) error {
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		return err
	}
	return errors.Join(s.Patient(), writeSome(context.Background(), s, 1, secondBatches), s.Close())
}

const secondBatches = 200

func TestTwoProcessesWriteOneFileAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), secondEnv+"="+path)
	other.Stderr = os.Stderr
	check(t, other.Start()) // both make the file
	s := open(t, path, nil)
	err := writeSome(t.Context(), s, 0, secondBatches)
	check(t, errors.Join(err, other.Wait()))
	for writer := range 2 {
		for i := range secondBatches * 9 {
			_, err := s.Call(t.Context(), fmt.Sprint(sampleCall(i).ID, "_", writer))
			check(t, err)
		}
	}
	servers, err := s.Servers(t.Context())
	check(t, err)
	equal(t, len(servers), 2)
	for _, srv := range servers {
		equal(t, srv.Tools[0].Name, fmt.Sprint(secondBatches-1))
	}
}

// writeUntilKilled prints how many calls are acknowledged after each batch.
func writeUntilKilled(path string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path, &store.Options{Durable: true})
	if err != nil {
		return err
	}
	for n := 0; ; {
		batch := make([]store.Call, 1+n%90)
		for i := range batch {
			batch[i] = sampleCall(n)
			n++
		}
		if err := s.AppendCalls(ctx, batch); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), crashEnv+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	check(t, err)
	check(t, writer.Start())
	lines := bufio.NewScanner(out)
	acknowledged := 0
	for lines.Scan() {
		acknowledged, err = strconv.Atoi(lines.Text())
		check(t, err)
		if acknowledged > 2000 {
			// The writer goes on while the signal is on its way: it dies at any point of a write.
			check(t, writer.Process.Kill())
			break
		}
	}
	for lines.Scan() { // what was acknowledged before it died
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			acknowledged = n
		}
	}
	if err := writer.Wait(); err == nil || acknowledged <= 2000 {
		t.Fatalf("writer ended by itself after %d calls: %v", acknowledged, err)
	}

	s := open(t, path, nil)
	for i := range acknowledged {
		if _, err := s.Call(t.Context(), sampleCall(i).ID); err != nil {
			t.Fatalf("call %d of %d acknowledged: %v", i, acknowledged, err)
		}
	}
	check(t, s.AppendCalls(t.Context(), []store.Call{sampleCall(1 << 30)}))
}
