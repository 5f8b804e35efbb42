// Package keeper runs a program and ends it together with everything it started, also what
// left its process group, and also when this process is killed.
//
// On Unix a second process stands between us and the program: the keeper. It is this same
// executable under another name, and does nothing but wait. Orphans below it become its
// children where the system allows that (Linux), so it finds all of them; and it notices
// that we are gone when a pipe from us closes, however we ended. On Windows a job object
// does the same.
//
// In the same way it keeps a temporary folder that does not outlive us: see Scratch.
//
//	k, err := keeper.Start(exec.Command("npx", "server"))
//	…
//	k.Terminate()
//	err = k.Wait()
package keeper

import "time"

// patience is how long the keeper waits for what it has killed, and we for the keeper. A
// process that hangs in the kernel does not die, and must hold up nobody.
const patience = 5 * time.Second

// StartError says why the program could not be started.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return e.Reason }
