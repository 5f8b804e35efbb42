package direct

import (
	"io"
	"net/http"
	"slices"
	"strconv"
)

// ours are the headers that are not taken from those of a request: they say how it is sent.
var ours = []string{"Connection", "Content-Length", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// appendHead appends the head of a request; false if it is one for the transport behind.
func appendHead(b []byte, req *http.Request) ([]byte, bool) {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	target := req.URL.RequestURI()
	if !isPlainHost(host) || !isText(target) || target == "" || target[0] != '/' {
		return b, false
	}
	b = append(append(append(b, "POST "...), target...), " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	var place [16]string
	names := place[:0]
	for name := range req.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !isName(name) || slices.Contains(ours, name) {
			return b, false
		}
		for _, value := range req.Header[name] {
			if !isText(value) {
				return b, false
			}
			b = append(append(append(append(b, "\r\n"...), name...), ": "...), value...)
		}
	}
	b = append(b, "\r\nContent-Length: "...)
	return append(strconv.AppendInt(b, req.ContentLength, 10), "\r\n\r\n"...), true
}

// appendBody appends the body of a request, and closes it.
func appendBody(b []byte, req *http.Request) ([]byte, error) {
	defer req.Body.Close()
	from := len(b)
	b = slices.Grow(b, int(req.ContentLength))[:from+int(req.ContentLength)]
	_, err := io.ReadFull(req.Body, b[from:])
	return b, err
}

// isText tells whether a value can stand in a head.
func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7F {
			return false
		}
	}
	return true
}

// isName tells whether a name has only letters, digits and dashes; the others are rare.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' {
			return false
		}
	}
	return s != ""
}
