package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// patience is the timeout of everything but the measured work.
const patience = 30 * time.Second

// process is a server that runs until the context it was started with ends.
type process struct {
	addr string // where it listens
	pid  int
}

var serves = regexp.MustCompile(`agents\s+http://(\S+)/mcp`)

// start runs a server and waits until it says where it listens.
func start(ctx context.Context, work *sync.WaitGroup, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	endGently(cmd)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	addr := make(chan string, 1)
	var said bytes.Buffer // complete once addr is closed
	work.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := serves.FindSubmatch(lines.Bytes()); m != nil {
				addr <- string(m[1])
				break
			}
			fmt.Fprintf(&said, "\n%s", lines.Bytes())
		}
		close(addr)
		io.Copy(io.Discard, stderr) // it must not block on a full pipe
		cmd.Wait()                  // how it ended does not matter
	})
	select {
	case where, ok := <-addr:
		if !ok {
			return nil, fmt.Errorf("%s %s did not start:%s", program, args[0], said.Bytes())
		}
		return &process{addr: where, pid: cmd.Process.Pid}, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%s %s did not start in time", program, args[0])
	}
}

// endGently interrupts the command when its context ends, and kills it after a while.
func endGently(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
}

// cpu is the CPU time of the process so far.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0, err
	}
	return parseCPU(stat)
}

// parseCPU adds user and system time of a stat file. The program's name is in parentheses and may
// contain some itself, so that counting begins after the last one.
func parseCPU(stat []byte) (time.Duration, error) {
	return parseTicks(stat, 11, 12)
}

// parseTicks adds times of a stat file, which are the given fields after the program's name.
func parseTicks(stat []byte, fields ...int) (time.Duration, error) {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	var ticks int64
	for _, i := range fields {
		n, err := field(rest, i)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // Linux always has 100 ticks per second
}

// familyCPU is the CPU time of a process and of all that it has started, which may have ended.
func (p *process) familyCPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0, err
	}
	all, err := parseTicks(stat, 11, 12, 13, 14)
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", p.pid))
	for _, child := range bytes.Fields(children) {
		id, _ := strconv.Atoi(string(child)) // digits only
		cpu, gone := (&process{pid: id}).cpu()
		if gone == nil { // else it is in the sum of its parent next time
			all += cpu
		}
	}
	return all, err
}

// idleTime is how long the cores of the machine were idle so far.
func idleTime() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(stat, []byte("\n"))
	idle, err := field(first, 4)
	if err != nil {
		return 0, err
	}
	waiting, err := field(first, 5)
	return time.Duration(idle+waiting) * 10 * time.Millisecond, err
}

// rss is the memory of the process in bytes.
func (p *process) rss() (int64, error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.pid))
	if err != nil {
		return 0, err
	}
	pages, err := field(statm, 1)
	return pages * int64(os.Getpagesize()), err
}

// field is the i-th number of a line.
func field(line []byte, i int) (int64, error) {
	all := bytes.Fields(line)
	if len(all) <= i {
		return 0, fmt.Errorf("read process: no field %d in %q", i, line)
	}
	return strconv.ParseInt(string(all[i]), 10, 64)
}
