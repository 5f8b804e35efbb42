package proc

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		bad        bool
	}{
		{name: "own and ended children's time are added",
			stat: "7 (x) S 1 7 7 0 -1 4194560 900 0 0 0 100 20 3 4 20 0 9 0 100 1 2 3", want: 1270 * time.Millisecond},
		{name: "a name may hold spaces and parentheses",
			stat: "7 (a) b (c) S 1 7 7 0 -1 4194560 900 0 0 0 1 2 0 0 20 0 9 0 100 1 2 3", want: 30 * time.Millisecond},
		{name: "a short line is refused", stat: "7 (x) S 1 7", bad: true},
		{name: "an empty file is refused", bad: true},
		{name: "what is no number is refused", stat: "7 (x) S 1 7 7 0 -1 4194560 900 0 0 0 x 20 3 4 20 0 9 0 100 1 2 3", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse([]byte(c.stat))
			if (err != nil) != c.bad || !c.bad && got.CPU != c.want {
				t.Errorf("got %v, %v", got.CPU, err)
			}
		})
	}
}

func TestTheServersBehindAGatewayAreNotCounted(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("no cat on this system")
	}
	child := exec.Command(cat)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer stdin.Close()
	if !slices.Contains(Descendants(os.Getpid()), child.Process.Pid) {
		t.Fatal("the child is not found")
	}
	all, err := Tree(os.Getpid(), "")
	if err != nil {
		t.Fatal(err)
	}
	// A process has its parent's program for a moment after it was started.
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	without, err := Tree(os.Getpid(), exe)
	if err != nil || without.Processes != all.Processes-1 {
		t.Errorf("%d processes, and %d without the server, %v", all.Processes, without.Processes, err)
	}
}

func TestPeakAndFilesOfThisProcess(t *testing.T) {
	const size = 64 << 20
	take := make([]byte, size)
	for i := 0; i < size; i += os.Getpagesize() {
		take[i] = 1
	}
	peak, err := Peak(os.Getpid())
	if err != nil || peak < size {
		t.Errorf("peak %d, %v, for %d bytes that begin with %d", peak, err, size, take[0])
	}
	before, err := Files(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if after, err := Files(os.Getpid()); err != nil || after <= before {
		t.Errorf("%d files open, then %d, %v", before, after, err)
	}
}
