//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is the kind of system calls that the filter knows.
var machine = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// refused are the system calls that the program does not have: io_uring makes sockets that no
// filter sees, and keyrings hold secrets of the user.
var refused = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY}

// Where a filter finds the parts of a call, on machines with the low half of a number first.
const (
	numberAt = 0
	kindAt   = 4
	firstAt  = 16
	secondAt = 24
)

// filterCalls refuses this thread system calls that reach around Landlock. Sockets are those of
// networks alone: Landlock does not know the sockets in the file system, such as Docker's, and
// network namespaces do not separate them. A pair of sockets, as between a program and its
// child, is another call, and allowed unless it is for datagrams: these can be sent to anybody.
func filterCalls(net bool) error {
	code := func(c uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: c, Jt: yes, Jf: no, K: k}
	}
	load := func(at uint32) unix.SockFilter { return code(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
	end := func(how uint32) unix.SockFilter { return code(unix.BPF_RET|unix.BPF_K, how, 0, 0) }
	// each answers how if the loaded number is k; otherwise the next one is tried.
	each := func(k, how uint32) []unix.SockFilter {
		return []unix.SockFilter{code(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1), end(how)}
	}
	fail := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

	program := []unix.SockFilter{
		load(kindAt), code(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, machine, 1, 0), end(unix.SECCOMP_RET_KILL_PROCESS),
		load(numberAt), code(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 1<<30, 0, 1), end(fail(unix.ENOSYS)), // x32 has other numbers
	}
	for _, call := range refused {
		program = append(program, each(call, fail(unix.ENOSYS))...)
	}
	pair := []unix.SockFilter{load(secondAt), code(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0)} // the rest are flags
	for _, kind := range []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
		pair = append(pair, each(kind, unix.SECCOMP_RET_ALLOW)...)
	}
	pair = append(pair, end(fail(unix.EACCES)))
	program = append(program, code(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SOCKETPAIR, 0, uint8(len(pair))))
	program = append(program, pair...)
	program = append(program, code(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SOCKET, 1, 0), end(unix.SECCOMP_RET_ALLOW), load(firstAt))
	families := []uint32{unix.AF_NETLINK} // which tells a program its own addresses
	if net {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	for _, family := range families {
		program = append(program, each(family, unix.SECCOMP_RET_ALLOW)...)
	}
	program = append(program, end(fail(unix.EACCES)))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	return nil
}
