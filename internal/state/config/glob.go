package config

import "strings"

// checkGlob refuses signs that other pattern languages know and ours does not.
func checkGlob(glob string) string {
	if glob == "" {
		return `is empty; write "*" for every tool`
	}
	if strings.ContainsAny(glob, "[]{}()|^$\\! \t\n") {
		return `is not a glob; only "*" (any run) and "?" (one character) are special`
	}
	return ""
}
