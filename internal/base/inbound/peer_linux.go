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

// The kernel's socket tables, and the state of a listening socket.
const (
	tableV4   = "/proc/net/tcp"
	tableV6   = "/proc/net/tcp6"
	listening = "0A"
)

// socketUser finds the socket with these two addresses. One that is in no table is closed.
func socketUser(local, remote netip.AddrPort) User {
	return lookUp(local.Addr(), OtherUser, func(table string, wide bool) (string, error) {
		return find(table, []string{hexAddr(local, wide) + " " + hexAddr(remote, wide) + " "}, "")
	})
}

// listenerUser finds the socket that listens on the address, or on all addresses.
func listenerUser(at netip.AddrPort) User {
	return lookUp(at.Addr(), Unknown, func(table string, wide bool) (string, error) {
		all := netip.IPv4Unspecified()
		if wide {
			all = netip.IPv6Unspecified()
		}
		return find(table, []string{hexAddr(at, wide) + " ", hexAddr(netip.AddrPortFrom(all, at.Port()), wide) + " "}, listening)
	})
}

// lookUp searches the table of the address's family, then that of IPv6, which has sockets for
// both. It returns missing when none has the socket.
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
			continue // the system lacks this family
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

// find returns the user id of the socket with the first address that any has, or "". A state of
// "" matches any.
func find(table string, addresses []string, state string) (string, error) {
	f, err := os.Open(table)
	if err != nil {
		return "", err
	}
	defer f.Close()
	found := ""
	at := len(addresses)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, row, _ := strings.Cut(lines.Text(), ": ")
		for i, address := range addresses[:at] {
			if !strings.HasPrefix(row, address) {
				continue
			}
			// local, remote, state, queues, timer, retransmits, uid, timeout, inode; a closed socket
			// has no inode and belongs to root
			if fields := strings.Fields(row); len(fields) > 8 && fields[8] != "0" && (state == "" || fields[2] == state) {
				found = fields[6]
				at = i
			}
			break
		}
	}
	return found, lines.Err()
}

// hexAddr formats an address like the tables: words in native byte order.
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
