//go:build race

package e2e

// raced says that the race detector is on: programs are slow and take much memory.
const raced = true
