package host

import (
	"net"
	"net/netip"
)

// Local reports whether an address, with or without a port, is this machine's own: loopback, or that of one of its network
// interfaces.
func Local(address string) bool {
	ip, err := netip.ParseAddr(address)
	if at, portErr := netip.ParseAddrPort(address); portErr == nil {
		ip, err = at.Addr(), nil
	}
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap().WithZone("") == ip {
			return true
		}
	}
	return false
}
