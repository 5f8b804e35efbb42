package broker

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// loopback is an address on this machine without TLS: its host, its port, and the rest.
var loopback = regexp.MustCompile(`^http://(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]{1,5})?([/?].*)?$`)

// isLoopback tells whether an address is on this machine and has no TLS.
func isLoopback(address string) bool { return loopback.MatchString(address) }

// privateScheme is a scheme of a program on the person's device.
var privateScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]+$`)

// browserSchemes mean something to browsers themselves.
var browserSchemes = []string{
	"http", "javascript", "data", "file", "blob", "filesystem", "about", "vbscript", "view-source", "ws", "wss", "ftp", "mailto", "tel", "sms",
	"chrome", "chrome-extension", "moz-extension", "resource", "jar", "intent", "content", "res", "ms-its", "mhtml",
}

const maxRedirect = 2000

// plainAddress has only what addresses may have, and no fragment. Browsers and we read it alike.
var plainAddress = regexp.MustCompile(`^[A-Za-z0-9._~:/?&=+$,;!@%()\[\]-]+$`)

// acceptable tells whether a client may have the address as redirect URI: https, this machine, or a scheme of its own.
func acceptable(address string) bool {
	if len(address) > maxRedirect || !plainAddress.MatchString(address) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Hostname() == "" {
		return false
	}
	scheme, _, _ := strings.Cut(address, "://") // u.Scheme is in lower case, whatever the address has
	private := privateScheme.MatchString(scheme) && !slices.Contains(browserSchemes, scheme)
	return scheme == "https" || isLoopback(address) || private
}

// isOneOf tells whether an address is byte for byte one of the list. On loopback the port may differ, because programs
// take the one that is free.
func isOneOf(list []string, address string) bool {
	if !acceptable(address) {
		return false
	}
	return slices.ContainsFunc(list, func(one string) bool {
		return one == address || isLoopback(one) && withoutPort(one) == withoutPort(address)
	})
}

func withoutPort(address string) string {
	found := loopback.FindStringSubmatch(address)
	if found == nil {
		return address
	}
	return "http://" + found[1] + found[3]
}

// isLocal tells whether the address leads to a program on the person's device.
func isLocal(address string) bool { return !strings.HasPrefix(address, "https://") }

// shownHost is the part of an address that tells people where it leads.
func shownHost(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return address
	case u.Scheme != "https" && u.Scheme != "http":
		return u.Scheme + "://" + u.Host
	}
	return u.Host
}

// withAnswer adds the answer to a redirect URI, which may have a query of its own.
func withAnswer(address string, answer url.Values) string {
	if strings.Contains(address, "?") {
		return address + "&" + answer.Encode()
	}
	return address + "?" + answer.Encode()
}
