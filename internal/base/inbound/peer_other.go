//go:build !linux

package inbound

import "net/netip"

// Other systems have no simple way to find the user of a TCP connection.

func socketUser(netip.AddrPort, netip.AddrPort) User { return Unknown }

func listenerUser(netip.AddrPort) User { return Unknown }

func canTell() bool { return false }
