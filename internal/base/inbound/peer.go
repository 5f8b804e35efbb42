package inbound

import (
	"net"
	"net/http"
	"net/netip"
)

// User says who is at the other end of a connection on this machine.
type User int

const (
	Unknown   User = iota // this system cannot tell
	SameUser              // the user that this program runs as
	OtherUser             // another user, or the connection is closed
)

// Peer returns which user sent the request. It is looked up once per connection.
func Peer(r *http.Request) User {
	c := connOf(r)
	if c == nil {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil {
			return Unknown
		}
		return peer(local.String(), r.RemoteAddr)
	}
	c.peer.Do(func() { c.user = peer(c.LocalAddr().String(), c.RemoteAddr().String()) })
	return c.user
}

// peer looks up the other end's socket, which has our addresses swapped.
func peer(ours, theirs string) User {
	here, err1 := netip.ParseAddrPort(ours)
	there, err2 := netip.ParseAddrPort(theirs)
	if err1 != nil || err2 != nil || !there.Addr().Unmap().IsLoopback() {
		return Unknown
	}
	return socketUser(there, here)
}

// ListenerUser returns which user listens on an address of this machine, Unknown when nobody does.
// It keeps a secret from being sent to another user's program.
func ListenerUser(address netip.AddrPort) User { return listenerUser(address) }

// CanIdentify reports whether this system can identify the user of a connection.
func CanIdentify() bool { return canTell() }
