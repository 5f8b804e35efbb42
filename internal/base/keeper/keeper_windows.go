package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"
)

// Program is a running program and everything it started, in a job of its own.
type Program struct {
	cmd  *exec.Cmd
	job  syscall.Handle // the system ends everything in it when its last handle is closed, even by our death
	once sync.Once
}

var (
	kernel                   = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel.NewProc("AssignProcessToJobObject")
)

// jobLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type jobLimits struct {
	processTime, jobTime                           int64
	flags                                          uint32
	minSet, maxSet                                 uintptr
	active                                         uint32
	affinity                                       uintptr
	priority, scheduling                           uint32
	io                                             [6]uint64
	processMemory, jobMemory, peakProcess, peakJob uintptr
}

// newJob makes a job that ends with its last handle.
func newJob() (syscall.Handle, error) {
	const extendedLimits, killOnClose = 9, 0x2000
	job, _, err := createJobObject.Call(0, 0)
	if job == 0 {
		return 0, fmt.Errorf("create a job object: %w", err)
	}
	limits := jobLimits{flags: killOnClose}
	if ok, _, err := setInformationJobObject.Call(job, extendedLimits, uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits)); ok == 0 {
		syscall.CloseHandle(syscall.Handle(job))
		return 0, fmt.Errorf("set up a job object: %w", err)
	}
	return syscall.Handle(job), nil
}

// Start starts the program of cmd. Console signals for us do not reach it. There is never a temporary
// folder: there is no sandbox on Windows.
func Start(cmd *exec.Cmd, _ string) (*Program, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		syscall.CloseHandle(job)
		return nil, &StartError{err.Error()}
	}
	p := &Program{cmd: cmd, job: job}
	cmd.Process.WithHandle(func(process uintptr) {
		// It fails only for one that has ended. What the program starts is in the job by itself.
		assignProcessToJobObject.Call(uintptr(job), process)
	})
	return p, nil
}

// apart keeps signals of the console away from a process.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func executable() (string, error) { return os.Executable() }

// Terminate does nothing: Windows has no such signal.
func (p *Program) Terminate() {}

// Kill ends the program and everything it started.
func (p *Program) Kill() { p.once.Do(func() { syscall.CloseHandle(p.job) }) }

// Wait waits until the program has ended, ends everything it started, and returns how the program ended.
func (p *Program) Wait() error {
	err := p.cmd.Wait()
	p.Kill()
	return err
}
