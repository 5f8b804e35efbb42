//go:build race

package budget

func init() { raced = true }
