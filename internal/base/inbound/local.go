package inbound

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// ErrServed says that another process listens on the socket.
var ErrServed = errors.New("another process listens there")

// FromOwner reports whether a request came through a socket of ListenLocal: its sender runs as
// our own user. The address is the connection's, which no header can set.
func FromOwner(r *http.Request) bool { return r.RemoteAddr == string(owner) }

// address is that of a client of a local socket.
type address string

const owner address = "same-user"

func (address) Network() string  { return "unix" }
func (a address) String() string { return string(a) }

// ListenLocal listens on a Unix socket that only our own user can use. A socket that a killed
// process left is replaced; one in use is ErrServed. Closing the listener removes the socket.
func ListenLocal(path string) (net.Listener, error) {
	unlock, err := regular.LockFolder(filepath.Dir(path)) // two processes that start at once must not replace each other's
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch c, err := DialLocal(context.Background(), path); {
	case err == nil:
		c.Close()
		return nil, ErrServed
	case errors.Is(err, fs.ErrNotExist):
	case !isStale(err):
		return nil, err
	default:
		if err := removeSocket(path); err != nil {
			return nil, err
		}
	}
	l := &localListener{path: path}
	err = within(path, func(short string) (err error) {
		l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would use the short path
	if err = os.Chmod(path, 0o600); err == nil {
		l.file, err = os.Lstat(path)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// removeSocket removes a socket, never a file.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = fmt.Errorf("%s is not a socket", path)
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// localListener accepts connections of its own user.
type localListener struct {
	*net.UnixListener
	path string
	file fs.FileInfo
}

func (l *localListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if socketPeer(c) != OtherUser {
			return localConn{c}, nil
		}
		c.Close() // root passes the mode of the file
	}
}

// Close removes the socket before it closes it: after that another process may listen there.
func (l *localListener) Close() error {
	if file, err := os.Lstat(l.path); err == nil && (l.file == nil || os.SameFile(file, l.file)) {
		os.Remove(l.path)
	}
	return l.UnixListener.Close()
}

type localConn struct{ *net.UnixConn }

func (localConn) RemoteAddr() net.Addr { return owner }

// DialLocal connects to a socket of ListenLocal. A socket of another user is refused.
func DialLocal(ctx context.Context, path string) (net.Conn, error) {
	var c net.Conn
	err := within(path, func(short string) (err error) {
		c, err = new(net.Dialer).DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, err
	}
	if socketPeer(c.(*net.UnixConn)) == OtherUser {
		c.Close()
		return nil, fault.New(fault.Forbidden, "%s belongs to another user", path)
	}
	return c, nil
}

// longest is how long the path of a socket may be on every system.
const longest = 100

// within calls f with a short enough path, through a symbolic link if need be.
func within(path string, f func(short string) error) error {
	if len(path) <= longest {
		return f(path)
	}
	dir, err := os.MkdirTemp("", "toolfit")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "s")
	if err := os.Symlink(filepath.Dir(path), folder); err != nil {
		return fmt.Errorf("shorten %s: %w", path, err)
	}
	return f(filepath.Join(folder, filepath.Base(path)))
}
