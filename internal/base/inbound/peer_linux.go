package inbound

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// The kernel's tables of sockets, and the state of one that listens.
const (
	tableV4   = "/proc/net/tcp"
	tableV6   = "/proc/net/tcp6"
	listening = "0A"
)

// socketUser finds the socket with these two addresses. One that is in no table has been
// closed, and nobody's any more.
func socketUser(local, remote netip.AddrPort) User {
	return lookUp(local.Addr(), OtherUser, func(table string, wide bool) (string, error) {
		return find(table, []string{hexAddr(local, wide) + " " + hexAddr(remote, wide) + " "}, "")
	})
}

// listenerUser finds the socket that takes connections to the address: its own, or one for
// all addresses.
func listenerUser(at netip.AddrPort) User {
	return lookUp(at.Addr(), Unknown, func(table string, wide bool) (string, error) {
		all := netip.IPv4Unspecified()
		if wide {
			all = netip.IPv6Unspecified()
		}
		return find(table, []string{hexAddr(at, wide) + " ", hexAddr(netip.AddrPortFrom(all, at.Port()), wide) + " "}, listening)
	})
}

// lookUp looks into the table of the address's family, then into that of IPv6, where
// sockets for both stand. A socket that is in none is missing.
func lookUp(addr netip.Addr, missing User, find func(table string, wide bool) (uid string, err error)) User {
	tables := []string{tableV4, tableV6}
	if addr.Is6() && !addr.Is4In6() {
		tables = tables[1:]
	}
	read := false
	for _, table := range tables {
		uid, err := find(table, table == tableV6)
		switch {
		case err != nil:
			continue // a system without this family
		case uid == strconv.Itoa(os.Geteuid()):
			return SameUser
		case uid != "":
			return OtherUser
		}
		read = true
	}
	if !read {
		return Unknown
	}
	return missing
}

// find returns the user id of the first address that a socket has; "" when none has. The
// state, unless it is "", must be as given.
func find(table string, addresses []string, state string) (string, error) {
	f, err := os.Open(table)
	if err != nil {
		return "", err
	}
	defer f.Close()
	found, at := "", len(addresses)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, row, _ := strings.Cut(lines.Text(), ": ")
		for i, address := range addresses[:at] {
			if !strings.HasPrefix(row, address) {
				continue
			}
			// local, remote, state, queues, timer, retransmits, uid, timeout, inode; one that was
			// closed has no inode, and says that it is root's
			if fields := strings.Fields(row); len(fields) > 8 && fields[8] != "0" && (state == "" || fields[2] == state) {
				found, at = fields[6], i
			}
			break
		}
	}
	return found, lines.Err()
}

// hexAddr writes an address as the tables do: words in the machine's own byte order.
func hexAddr(a netip.AddrPort, wide bool) string {
	addr := a.Addr().Unmap().WithZone("")
	b := addr.AsSlice()
	if wide {
		wideAddr := addr.As16()
		b = wideAddr[:]
	}
	var s strings.Builder
	for i := 0; i < len(b); i += 4 {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(b[i:]))
	}
	fmt.Fprintf(&s, ":%04X", a.Port())
	return s.String()
}

func canTell() bool {
	f, err := os.Open(tableV4)
	if err != nil {
		return false
	}
	f.Close()
	return true
}
