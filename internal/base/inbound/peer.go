package inbound

import (
	"net"
	"net/http"
	"net/netip"
)

// User says who is at the other end of a connection of this machine.
type User int

const (
	Unknown   User = iota // this system cannot tell
	SameUser              // the user that this program runs as
	OtherUser             // another user, or nobody any more
)

// Peer tells which user sent the request. The system is asked once for each connection.
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

// peer looks for the other end's socket, whose addresses are ours the other way round.
func peer(ours, theirs string) User {
	here, err1 := netip.ParseAddrPort(ours)
	there, err2 := netip.ParseAddrPort(theirs)
	if err1 != nil || err2 != nil || !there.Addr().Unmap().IsLoopback() {
		return Unknown
	}
	return socketUser(there, here)
}

// ListenerUser tells which user serves an address of this machine, Unknown when nobody does.
// A secret must not go to another user's program.
func ListenerUser(address netip.AddrPort) User { return listenerUser(address) }

// CanTell says whether this system can tell the user of a connection.
func CanIdentify() bool { return canTell() }
