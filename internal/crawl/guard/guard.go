// Package guard is the program's only way out to the web: a client that reaches public addresses and no others, and that
// no answer can keep busy or fill up.
package guard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// Rules say where requests may go. The zero Rules allow the public web on its two ports.
type Rules struct {
	AllowPrivate []netip.Prefix // private addresses that may be reached nevertheless, on every port
	AllowPorts   []uint16       // ports besides 80 and 443
	Unguarded    bool           // every address and port: for the person at the keyboard, never for a server
}

// errAddress and errPort are what a refused connection fails with.
var (
	errAddress = errors.New("the address is not on the public web")
	errPort    = errors.New("the port is not a web port")
)

// control looks at the address that a connection is about to be made to, after every look-up and for every hop.
func (r Rules) control(network, address string, _ syscall.RawConn) error {
	if r.Unguarded {
		return nil
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%s %s: %w", network, address, errAddress)
	}
	ip := target.Addr().WithZone("").Unmap()
	switch {
	case slices.ContainsFunc(r.AllowPrivate, func(p netip.Prefix) bool { return p.Contains(ip) }):
		return nil
	case !public(ip):
		return fmt.Errorf("%s: %w", ip, errAddress)
	case target.Port() != 80 && target.Port() != 443 && !slices.Contains(r.AllowPorts, target.Port()):
		return fmt.Errorf("%d: %w", target.Port(), errPort)
	}
	return nil
}

// public says that an address is part of the public web. All of IPv6 outside the global unicast block is not, and with it
// the IPv4 addresses that hide in ::/96, ::ffff:0:0/96, 64:ff9b::/96 and 64:ff9b:1::/48; those in 2002::/16 (6to4) and
// 2001::/32 (Teredo) are on the list.
func public(ip netip.Addr) bool {
	within := func(p netip.Prefix) bool { return p.Contains(ip) }
	if ip.Is4() {
		return !slices.ContainsFunc(ssrf.IPv4DeniedPrefixes, within)
	}
	return ssrf.IPv6GlobalUnicast.Contains(ip) && !slices.ContainsFunc(ssrf.IPv6DeniedPrefixes, within)
}

// dialer makes guarded connections. The resolver may be nil for the system's own.
func (r Rules) dialer(resolver *net.Resolver) *net.Dialer {
	return &net.Dialer{Timeout: connectTime, Control: r.control, Resolver: resolver}
}
