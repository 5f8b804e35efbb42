//go:build unix

package keeper

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// keeperName is argv[0] of a keeper.
const keeperName = "toolfit-keeper"

// The files of a keeper besides the program's three, and what it reports.
const (
	heldFile   = 3 // readable when everything must end
	reportFile = 4

	reportEnded  = "ended"
	reportFailed = "failed"
)

// init makes the process a keeper before anything else in the executable takes time or memory,
// and in every executable, including test binaries.
func init() {
	if len(os.Args) > 2 && os.Args[0] == keeperName {
		keep(os.Args[2], os.Args[2:])
		os.RemoveAll(os.Args[1])
		syscall.Exit(0)
	}
}

// keep runs the program until it ends or must end, then ends what it left behind.
func keep(path string, args []string) {
	syscall.CloseOnExec(heldFile)
	syscall.CloseOnExec(reportFile)
	adoptOrphans()
	died := make(chan os.Signal, 1)
	asked := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	signal.Notify(asked, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP) // not meant for us

	attr := &syscall.SysProcAttr{Setpgid: true}
	endWithKeeper(attr) // tied to this thread, the main one, which stays until the end
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attr})
	if err != nil {
		say(reportFailed, err.Error())
		return
	}
	letGo()
	over := make(chan struct{})
	go func() {
		for err := error(syscall.EINTR); err == syscall.EINTR; {
			_, err = syscall.Read(heldFile, make([]byte, 1)) // nothing is ever written
		}
		close(over)
	}()
	for {
		select {
		case <-died:
			if status, ended, _ := reap(pid); ended {
				say(reportEnded, describe(status))
				killAll(pid, died)
				return
			}
		case <-asked:
			syscall.Kill(-pid, syscall.SIGTERM)
		case <-over:
			say(reportEnded, describe(killAll(pid, died)))
			return
		}
	}
}

// letGo replaces our copies of the program's pipes, so that they close when it closes them.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		for fd := range 3 {
			syscall.Close(fd)
		}
		return
	}
	for fd := range 3 {
		replace(int(null.Fd()), fd)
	}
	null.Close()
}

func say(kind, text string) { fmt.Fprintf(os.NewFile(reportFile, "report"), "%s %s", kind, text) }

// describe returns how the program ended, like os.ProcessState; "" for success.
func describe(s syscall.WaitStatus) string {
	switch {
	case s.Signaled() && s.CoreDump():
		return "signal: " + s.Signal().String() + " (core dumped)"
	case s.Signaled():
		return "signal: " + s.Signal().String()
	case s.ExitStatus() != 0:
		return fmt.Sprintf("exit status %d", s.ExitStatus())
	}
	return ""
}

// reap waits for dead children, and reports whether the program was among them and whether
// children are left.
func reap(program int) (status syscall.WaitStatus, ended, left bool) {
	for {
		var s syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &s, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0:
			return status, ended, err == nil
		case pid == program:
			status = s
			ended = true
		}
	}
}

// killAll kills the program and what it left, level by level: we adopt the children of a dead
// child. A process id is not reused before we wait for it, so no other process is hit. It
// returns how the program ended, unless that was reaped before.
func killAll(program int, died <-chan os.Signal) (status syscall.WaitStatus) {
	late := time.After(killTimeout)
	for {
		s, ended, left := reap(program)
		if ended {
			status = s
		}
		if left || !adopts {
			killChildren(program)
		}
		if !left {
			return status
		}
		select {
		case <-died:
		case <-late:
			return status
		}
	}
}
