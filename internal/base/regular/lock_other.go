//go:build !unix

package regular

// LockFolder does nothing: there is no lock for two processes at once.
func LockFolder(string) (unlock func(), err error) { return func() {}, nil }
