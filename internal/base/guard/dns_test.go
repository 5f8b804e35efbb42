package guard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// changingDNS answers first with a public address and then with a private one, as a host does that is asked once by a
// check and once more by a dial.
type changingDNS struct {
	mu      sync.Mutex
	answers []netip.Addr
	asked   int
}

// reply answers a query of one name (RFC 1035): with an address if that is wanted, else with nothing.
func (d *changingDNS) reply(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	kind := query[end+2]
	question := query[12 : end+5]
	head := []byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}
	if kind != 1 {
		return append(head, question...)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.answers[min(d.asked, len(d.answers)-1)].As4()
	d.asked++
	head[7] = 1
	answer := append([]byte{0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4}, at[:]...)
	return append(append(head, question...), answer...)
}

// TestAHostThatChangesItsAddressIsNotDialed: whichever of its addresses the dial gets, it is that one that is checked.
func TestAHostThatChangesItsAddressIsNotDialed(t *testing.T) {
	var came atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dns.Close()
	names := &changingDNS{answers: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("127.0.0.1")}}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := dns.ReadFrom(buf)
			if err != nil {
				return
			}
			dns.WriteTo(names.reply(buf[:n]), from)
		}
	}()
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", dns.LocalAddr().String())
	}}
	g := New(nil)
	found, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com.") // a check that is too early
	if err != nil || found[0] != names.answers[0] {
		t.Fatal(found, err)
	}
	client := http.Client{Transport: g.Direct()}
	if resp, err := client.Get("http://rebind.example.com.:" + port + "/"); err == nil || !strings.Contains(err.Error(), "127.0.0.1 is not public") {
		t.Errorf("%v %v", resp, err)
	}
	unguarded := http.Client{Transport: g.Trusting("http://rebind.example.com.").Direct()} // the test would notice
	resp, err := unguarded.Get("http://rebind.example.com.:" + port + "/")
	if err != nil || came.Load() != 1 {
		t.Fatal(err, came.Load())
	}
	resp.Body.Close()
}
