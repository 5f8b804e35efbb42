package cli

import "io/fs"

type fsInfo = fs.FileInfo

// clearLine takes the line away on which the cursor stands.
const clearLine = "\r\033[K"

// onTerminal tells whether somebody watches what is said beside the output.
func (c *command) onTerminal() bool { return isTerminal(c.said.Unwrap()) }

// isTerminal tells whether a person is at the other end.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Stat() (fsInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
