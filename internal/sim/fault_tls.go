package sim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// paper is a certificate that nobody should accept.
type paper struct {
	until time.Duration // from now to its end
	name  string        // of a host; empty: loopback addresses
}

// papers are faults of TLS. Their server speaks it with a certificate of its own making.
func papers() []fault {
	return []fault{
		{
			Fault: Fault{"expired-certificate", "speaks TLS with a certificate that ended an hour ago"},
			paper: &paper{until: -time.Hour},
		},
		{
			Fault: Fault{"unknown-certificate", "speaks TLS with a certificate that it signed itself"},
			paper: &paper{until: 24 * time.Hour},
		},
		{
			Fault: Fault{"other-certificate", "speaks TLS with the certificate of another host"},
			paper: &paper{until: 24 * time.Hour, name: "elsewhere.invalid"},
		},
	}
}

// listen makes the certificate and speaks TLS on l with it.
func (p *paper) listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.make() }})
}

func (p *paper) make() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulated server"},
		NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(p.until),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if p.name != "" {
		template.IPAddresses, template.DNSNames = nil, []string{p.name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
