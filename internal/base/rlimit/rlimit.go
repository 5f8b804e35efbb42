// Package rlimit limits what this process may still take of the machine, counted from now, and
// ends a child with its parent. Limits cannot be taken back. It knows Linux; elsewhere limits are
// refused with errors.ErrUnsupported.
//
//	cmd := exec.Command(self, "worker")
//	rlimit.EndWithParent(cmd)
//	…
//	err := errors.Join(rlimit.Memory(256<<20), rlimit.CPU(2*time.Second)) // in the child
package rlimit
