package cli

import "io/fs"

type fsInfo = fs.FileInfo

func isTerminal(f interface{ Stat() (fsInfo, error) }) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
