//go:build !unix

package inbound

// lockFolder does nothing: there is no lock for two processes that start at once.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }

// isStale treats every error as a socket without a listener.
func isStale(error) bool { return true }
