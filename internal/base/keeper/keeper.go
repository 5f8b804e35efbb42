// Package keeper runs a program and ends it with everything it started, even what left its
// process group, and even when this process is killed.
//
// On Unix a second process is between us and the program: the keeper, which is this executable
// under another name. On Linux it adopts orphans below it, so that it finds all of them; it
// notices that we are gone when a pipe from us closes. On Windows a job object does the same.
//
// Scratch does the same for a temporary folder.
//
//	k, err := keeper.Start(exec.Command("npx", "server"), "")
//	…
//	k.Terminate()
//	err = k.Wait()
package keeper

import "time"

// killTimeout is how long the keeper waits for what it killed, and we for the keeper. A process
// that hangs in the kernel does not die.
const killTimeout = 5 * time.Second

// StartError says why the program could not be started.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return e.Reason }
