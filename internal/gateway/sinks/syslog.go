package sinks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// priority is that of the facility "log audit" (13) at the level "informational" (6).
const priority = 13<<3 | 6

// closeTime is how long a syslog server may take to close the connection after us.
const closeTime = 5 * time.Second

// syslog sends records as RFC 5424 messages: over TCP or TLS with octet counting (RFC 6587, RFC 5425), or as datagrams to
// a socket of this machine. Syslog has no acknowledgements. Over TCP, each batch has a connection of its own, which the
// server closes after us once it has read everything: if it is killed before, that is an error, and the batch is sent
// again. From a server that leaves the connection open, that it was written is all there is to know.
type syslog struct {
	scheme, address string
	head            string // of a message, between the time and the record
}

func newSyslog(address string) *syslog {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{} // the configuration was checked
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "-"
	}
	s := &syslog{scheme: u.Scheme, address: cmp.Or(u.Host, u.Path), head: fmt.Sprintf(" %s toolfit %d audit - ", host, os.Getpid())}
	if u.Scheme != "unix" && u.Port() == "" {
		s.address = net.JoinHostPort(u.Hostname(), map[string]string{"tcp": "601", "tls": "6514"}[u.Scheme])
	}
	return s
}

func (s *syslog) send(ctx context.Context, records []store.AuditRecord) error {
	messages := make([][]byte, len(records))
	for i, r := range records {
		whole, err := json.Marshal(r)
		if err != nil {
			return err
		}
		at := r.At.UTC().Format("2006-01-02T15:04:05.000000Z")
		messages[i] = append(fmt.Appendf(nil, "<%d>1 %s%s", priority, at, s.head), whole...)
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })() // a gateway that ends does not wait
	if s.scheme == "unix" {
		for _, m := range messages {
			if _, err := conn.Write(m); err != nil {
				return err
			}
		}
		return nil
	}
	var stream bytes.Buffer
	for _, m := range messages {
		fmt.Fprintf(&stream, "%d %s", len(m), m)
	}
	if _, err := conn.Write(stream.Bytes()); err != nil {
		return err
	}
	return ended(conn)
}

func (s *syslog) dial(ctx context.Context) (net.Conn, error) {
	switch s.scheme {
	case "unix":
		return new(net.Dialer).DialContext(ctx, "unixgram", s.address)
	case "tls":
		return new(tls.Dialer).DialContext(ctx, "tcp", s.address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", s.address)
}

// ended says that nothing more comes, and waits until the server has read everything and closes the connection.
func ended(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(closeTime)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, conn)
	if errors.Is(err, os.ErrDeadlineExceeded) { // it stays open
		return nil
	}
	return err
}
