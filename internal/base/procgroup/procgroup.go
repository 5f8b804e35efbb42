// Package procgroup ends a program together with everything it started.
//
//	procgroup.Own(cmd)
//	err := cmd.Start()
//	…
//	procgroup.Kill(cmd)
package procgroup
