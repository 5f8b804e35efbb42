//go:build race

package script

func init() { raced = true }
