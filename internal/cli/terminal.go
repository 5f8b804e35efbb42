package cli

import "io/fs"

type fsInfo = fs.FileInfo

// clearLine takes the line away on which the cursor stands.
const clearLine = "\r\033[K"

// onTerminal tells whether somebody watches what is said beside the output.
func (c *command) onTerminal() bool {
	f, ok := c.said.Unwrap().(interface{ Stat() (fsInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
