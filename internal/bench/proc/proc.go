// Package proc reads the CPU time and memory of a program from Linux's /proc: of the process
// that was started and of all that it started in turn. It never signals a process.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Usage is what a tree of processes uses.
type Usage struct {
	CPU       time.Duration // user and system, of processes that have ended too
	Memory    int64         // resident, in bytes
	Processes int
}

// Tree reads a process and its descendants, without the processes that run the program except
// (the servers behind a gateway are not the gateway). What such a server used counts once it has
// ended: a gateway that starts one for each call makes its user pay for that.
func Tree(pid int, except string) (Usage, error) {
	sum, err := read(pid)
	if err != nil {
		return sum, err
	}
	for _, child := range Descendants(pid) {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", child)); exe == except {
			continue
		}
		u, err := read(child)
		if err != nil {
			continue // it has ended: its parent's sum has it next time
		}
		sum.CPU += u.CPU
		sum.Memory += u.Memory
		sum.Processes++
	}
	return sum, nil
}

// ResetPeak makes Peak count anew, for the process alone.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// Peak is the most memory that the process alone has had, in bytes.
func Peak(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nVmHWM:"))
	var kb int64
	if _, err := fmt.Sscan(string(rest), &kb); err != nil {
		return 0, fmt.Errorf("read the peak of process %d: %w", pid, err)
	}
	return kb * 1024, nil
}

// Files is how many files and connections the process has open.
func Files(pid int) (int, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open), err
}

// Descendants lists the processes that pid and its children have started and that still run.
func Descendants(pid int) []int {
	var all []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread that has ended has none
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				all = append(append(all, child), Descendants(child)...)
			}
		}
	}
	return all
}

// read reads one process, with the CPU time of children that have ended.
func read(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	return parse(stat)
}

// parse reads a stat file. The program's name is in parentheses and may contain some itself, so
// that counting begins after the last one.
func parse(stat []byte) (Usage, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 22 {
		return Usage{}, fmt.Errorf("read process: too few fields in %q", stat)
	}
	var ticks int64
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("read process: %w", err)
		}
		ticks += n
	}
	pages, err := strconv.ParseInt(string(fields[21]), 10, 64)
	// Linux always has 100 ticks per second here.
	return Usage{CPU: time.Duration(ticks) * 10 * time.Millisecond, Memory: pages * int64(os.Getpagesize()), Processes: 1}, err
}
