package config

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The checks return "" or "problem; fix". They never repeat a value: it may be a secret.

func checkFilled(s string) string {
	if strings.TrimSpace(s) == "" {
		return "is empty; give a value or leave the key out"
	}
	return ""
}

// CheckAddress returns what is wrong with an address to listen on, or "".
func CheckAddress(s string) string {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "expected host:port, such as 127.0.0.1:8420"
	}
	return ""
}

func checkHost(s string) string {
	if s == "" || strings.ContainsAny(s, "/@?# \t\n") {
		return "expected a host name, such as tools.example.com, without scheme and path"
	}
	return ""
}

// checkOrigin checks the origin of a page as browsers send it.
func checkOrigin(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return "expected an origin such as http://localhost:6274: scheme, host and port, without a path"
	}
	return ""
}

func checkBasePath(s string) string {
	if s == "" {
		return "" // none
	}
	if !strings.HasPrefix(s, "/") || strings.Contains(s, "//") || strings.ContainsAny(s, "?#% \t\n{}\\") {
		return "expected a path such as /toolfit"
	}
	return ""
}

// urlLike checks an HTTP address, with an example for the message.
func urlLike(example string) func(string) string {
	return func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return "expected an address such as " + example
		}
		return ""
	}
}

// checkProxy accepts what Go's HTTP client supports.
func checkProxy(s string) string {
	u, err := url.Parse(s)
	if err != nil || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) || u.Hostname() == "" {
		return "expected the address of a proxy, such as http://proxy.example.com:3128"
	}
	return ""
}

func checkProfileName(s string) string {
	other := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	}
	switch {
	case strings.ContainsFunc(s, other):
		return `is not a profile's name; use letters, digits, "-", "_" and "."`
	case s == "" || len(s) > 64 || strings.Trim(s, ".") == "":
		return "is not a profile's name; use 1 to 64 letters"
	}
	return ""
}

func checkVariable(s string) string {
	if s == "" || strings.ContainsAny(s, "=\x00") {
		return `is not a variable's name; it may not be empty or hold "="`
	}
	return ""
}

// headerName is a token as HTTP defines it.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func checkHeaderName(s string) string {
	if !headerName.MatchString(s) {
		return `is not a header's name; use letters, digits and "-"`
	}
	return ""
}

func checkHeaderValue(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "holds a line break or control character, which a header cannot contain; remove it"
	}
	return ""
}

// checkGlob refuses the syntax of other pattern languages.
func checkGlob(glob string) string {
	if glob == "" {
		return `is empty; write "*" for every tool`
	}
	if strings.ContainsAny(glob, "[]{}()|^$\\! \t\n") {
		return `is not a glob; only "*" (any run) and "?" (one character) are special`
	}
	return ""
}
