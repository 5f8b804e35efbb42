//go:build unix

package keeper

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// keeperName is the name under which the executable is a keeper. Nobody calls it that by accident.
const keeperName = "toolfit-keeper"

// The files of a keeper beside the program's own three, and what it reports.
const (
	heldFile   = 3 // readable when everything must end
	reportFile = 4

	reportEnded  = "ended"
	reportFailed = "failed"
)

// init makes the process a keeper before anything else in the executable takes time or
// memory. It stands here and not in a main function so that Start works in every executable
// that has it, test binaries among them.
func init() {
	if len(os.Args) > 1 && os.Args[0] == keeperName {
		keep(os.Args[1], os.Args[1:])
		syscall.Exit(0)
	}
}

// keep runs the program until it has ended or must end, then ends what it has left behind.
// All children are waited for here, in one place.
func keep(path string, args []string) {
	syscall.CloseOnExec(heldFile)
	syscall.CloseOnExec(reportFile)
	adoptOrphans()
	died, asked := make(chan os.Signal, 1), make(chan os.Signal, 1)
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

// letGo puts /dev/null in the place of the program's pipes: they must close when it closes them.
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

// describe says how the program ended, in the words of os.ProcessState; "" is without an error.
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

// reap takes the dead off the list of processes, and tells whether the program was among them
// and whether there are children left.
func reap(program int) (status syscall.WaitStatus, ended, left bool) {
	for {
		var s syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &s, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0:
			return status, ended, err == nil
		case pid == program:
			status, ended = s, true
		}
	}
}

// killAll kills the program and what it left, level by level: the children of a child that
// died become ours. A child's id is its own until we have waited for it, so nobody else is
// ever hit. It returns how the program ended, if that had not been waited for.
func killAll(program int, died <-chan os.Signal) (status syscall.WaitStatus) {
	late := time.After(patience)
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
