//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	stageName = "toolfit-sandbox" // argv[1] of the process that becomes the program
	probeName = "toolfit-sandbox-probe"

	us = "/proc/self/exe"
)

// needed is the version of Landlock without which a program could empty files that it cannot write.
const needed = 3

// stage is what the process that becomes the program has to know.
type stage struct {
	Read, Write []string
	NoSockets   bool // refused by the filter
}

func init() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == probeName:
		os.Exit(0)
	case len(os.Args) > 3 && os.Args[1] == stageName:
		fmt.Fprintln(os.Stderr, "toolfit cannot start the sandbox:", become(os.Args[2], os.Args[3:]))
		os.Exit(126)
	}
}

// Way says for people how rules are enforced on this machine, or why they cannot be.
func Way(net bool) (string, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno != 0:
		return "", errors.New("this system has no Landlock, which a sandbox needs (Linux 6.2 or newer, with landlock among its lsm=)")
	case version < needed:
		return "", fmt.Errorf("this system has version %d of Landlock, and a sandbox needs %d (Linux 6.2 or newer)", version, needed)
	case net:
		return "files by Landlock, network open", nil
	case namespaces() != nil:
		return "files by Landlock, network by an empty namespace", nil
	}
	return "files by Landlock, network by a filter of system calls", nil
}

// namespaces returns how a process is started without a network; nil where the system does not let us.
// Root needs no user namespace, in which it would lose its rights to files of others.
var namespaces = sync.OnceValue(func() *syscall.SysProcAttr {
	uid, gid := os.Geteuid(), os.Getegid()
	for _, attr := range []*syscall.SysProcAttr{
		{Cloneflags: unix.CLONE_NEWNET},
		{
			Cloneflags:  unix.CLONE_NEWNET | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		},
	} {
		probe := exec.Command(us, probeName)
		probe.SysProcAttr = attr
		if probe.Run() == nil {
			return attr
		}
	}
	return nil
})

// Confine makes a command that is not started yet run within the rules. It can also change the
// folder for its temporary files.
func (r *Rules) Confine(cmd *exec.Cmd, temporary string) error {
	if _, err := Way(r.Net); err != nil {
		return err
	}
	var s stage
	var err error
	if s.Read, s.Write, err = r.grants(cmd.Path, cmd.Dir, cmd.Env); err != nil {
		return err
	}
	s.Write = append(s.Write, temporary, "/dev/null")
	cmd.Env = append(slices.Clone(cmd.Env), "TMPDIR="+temporary)
	if !r.Net {
		if set := offline[r.Preset]; set != "" {
			cmd.Env = append(cmd.Env, set)
		}
		if attr := namespaces(); attr != nil {
			own := *attr
			cmd.SysProcAttr = &own
		} else {
			s.NoSockets = true
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cmd.Args = append([]string{us, stageName, string(text), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = us
	return nil
}

// become gives up what the rules do not contain, and becomes the program. It returns only if that fails.
// All of it concerns the calling thread alone: init runs on one thread, and exec ends all others.
func become(text string, command []string) error {
	var s stage
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := s.restrictFiles(); err != nil {
		return err
	}
	if err := filterCalls(!s.NoSockets); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return fmt.Errorf("%s: %w", command[0], syscall.Exec(command[0], command, os.Environ()))
}

// dropCapabilities leaves root nothing but the right to use files of others.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&head, &caps[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	caps[0].Inheritable, caps[1].Inheritable = 0, 0 // what a program inherits is not bounded, and what is ambient ends with it
	if err := unix.Capset(&head, &caps[0]); err != nil {
		return fmt.Errorf("give up inherited capabilities: %w", err)
	}
	for c := uintptr(0); c <= 63; c++ {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil {
			return nil // c is the first that the system does not have
		} else if has == 0 || c == unix.CAP_DAC_OVERRIDE {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && os.Geteuid() == 0 {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	return nil
}

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR

	writeFile = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writeDir  = writeFile | readDir | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK

	handled = writeDir | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// restrictFiles leaves this thread the files of the stage, and where the system can, no signals to others.
func (s *stage) restrictFiles() error {
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	attr := unix.LandlockRulesetAttr{Access_fs: handled}
	if version >= 5 {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("use Landlock: %w", errno)
	}
	defer unix.Close(int(rules))
	for _, path := range s.Read {
		if err := grant(rules, path, readFile, readDir); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			return err
		}
	}
	for _, path := range s.Write {
		if err := grant(rules, path, writeFile, writeDir); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("use Landlock: %w", errno)
	}
	return nil
}

// grant adds a rule for a file, or for a folder with everything in it.
func grant(rules uintptr, path string, ofFile, ofDir uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: ofFile, Parent_fd: int32(fd)}
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		rule.Allowed_access = ofDir
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}
