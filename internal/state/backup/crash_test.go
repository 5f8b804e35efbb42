//go:build unix

package backup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The test binary runs itself to be killed while it restores.
const restoreEnv = "TOOLFIT_TEST_CRASH_RESTORE"

func TestMain(m *testing.M) {
	folder := os.Getenv(restoreEnv)
	if folder == "" {
		os.Exit(m.Run())
	}
	file := filepath.Join(folder, "a.backup")
	for n := 0; ; n++ {
		found, err := Verify(context.Background(), file)
		if err == nil {
			to := target(filepath.Join(folder, "to"))
			to.Aside = fmt.Sprint(".before", time.Now().UnixNano())
			_, err = Restore(context.Background(), file, found, to)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("again")
	}
}

func TestARestoreThatIsKilledLosesNothingAndCanBeRunAgain(t *testing.T) {
	folder := t.TempDir()
	from, to, file := filepath.Join(folder, "from"), filepath.Join(folder, "to"), filepath.Join(folder, "a.backup")
	stop := make(chan struct{})
	close(stop)
	fill(t, from, 200, stop, func(int) {})
	m := write(t, from, file, true)
	for round := range 8 {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), restoreEnv+"="+folder)
		program.Stderr = os.Stderr
		out, err := program.StdoutPipe()
		check(t, err)
		check(t, program.Start())
		out.Read(make([]byte, 1)) // one is done; the next has begun
		for range round * 20_000 {
			_ = fmt.Sprint(round) // any point of it
		}
		check(t, program.Process.Kill())
		program.Wait()
		_, err = Restore(t.Context(), file, m, Target{target(to).Store, target(to).Config, fmt.Sprint(".round", round)})
		check(t, err)
		holds(t, to, 200)
	}
	stores, err := filepath.Glob(to + "/toolfit.db.*") // what was put aside is whole, too
	check(t, err)
	for i, path := range stores {
		if filepath.Ext(path) == ".restoring" {
			t.Errorf("left behind: %s", path)
		} else if i < 3 {
			check(t, os.Rename(path, filepath.Join(to, "toolfit.db")))
			holds(t, to, 200)
		}
	}
}
