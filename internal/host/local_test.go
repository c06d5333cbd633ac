package host

import (
	"net"
	"testing"
)

func TestAnAddressOfThisMachineIsLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:8000": true, "127.0.0.1": true, "[::1]:8000": true, "::1": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:80": true,
		"192.0.2.7:8000": false, "[2001:db8::7]:80": false, "": false, "pipe": false, "localhost:80": false, "127.0.0.1:": false,
	} {
		if got := Local(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !Local(net.JoinHostPort(ip.String(), "80")) {
			t.Errorf("%s is an address of this machine", ip)
		}
	}
}
