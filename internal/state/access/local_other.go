//go:build !unix

package access

import "io/fs"

// exposed does nothing: the folder's permissions protect the file, not its mode.
func exposed(fs.FileInfo) string { return "" }
