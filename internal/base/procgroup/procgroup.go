// Package procgroup ends a program together with all that it started. It never decides when:
// those who start a program know how long it may take to end by itself.
//
//	procgroup.Own(cmd)
//	err := cmd.Start()
//	…
//	procgroup.Kill(cmd)
package procgroup
