package github_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
)

// childAPI names the API that a child of this test binary publishes to. The proxy and the authorities of a process are
// what its environment said when it started, so each case needs a process of its own.
const childAPI = "BENCHGATE_TEST_CHILD_API"

func TestMain(m *testing.M) {
	if base := os.Getenv(childAPI); base != "" {
		os.Exit(child(base))
	}
	os.Exit(m.Run())
}

func child(base string) int {
	c, err := github.NewClient(github.ClientOptions{API: base, Token: token, Repository: repository})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	p := note(50, "new words")
	p.Statuses = nil // a second write is a second later
	if err := json.NewEncoder(os.Stdout).Encode(c.Publish(context.Background(), p)); err != nil {
		return 1
	}
	return 0
}

// enterprise is a GitHub Enterprise Server behind the certificate of an authority of its own.
const enterprise = "github.example.test"

// certificate makes a certificate for the host, and writes the authority that vouches for it to a file.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of its own"}, DNSNames: []string{enterprise},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, self, self, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// serveTLS serves the fake once more, with a certificate.
func serveTLS(t *testing.T, s http.Handler, c tls.Certificate) (addr string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = web.Serve(l) }()
	t.Cleanup(func() { _ = web.Close() })
	return l.Addr().String()
}

// tunnel is a proxy that connects every host to one address.
type tunnel struct {
	to    string
	mu    sync.Mutex
	asked []string
	seen  []byte // all that went through, as the proxy sees it
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	far, err := net.Dial("tcp", p.to)
	if err != nil || r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, io.TeeReader(near, p))
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}

func (p *tunnel) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, b...)
	return len(b), nil
}

// inChild publishes in a process with these variables and no others that the network heeds.
func inChild(t *testing.T, base string, variables ...string) (github.Posted, string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), own)
	c.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(e), "=")
		return strings.HasSuffix(name, "_PROXY") || strings.HasPrefix(name, "SSL_CERT")
	}), append(variables, childAPI+"="+base)...)
	out, _ := c.CombinedOutput() // a child that could not start to publish says why
	var posted github.Posted
	_ = json.Unmarshal(out, &posted)
	return posted, string(out)
}

func TestAProxyAndAnAuthorityOfTheEnvironmentAreHeeded(t *testing.T) {
	t.Parallel() // it mostly waits
	s := ghfake.New(t, ghfake.Options{Repository: repository, State: open()})
	own, authority := certificate(t)
	proxy := &tunnel{to: serveTLS(t, s, own)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: proxy}
	go func() { _ = web.Serve(l) }()
	t.Cleanup(func() { _ = web.Close() })
	through := "HTTPS_PROXY=http://" + l.Addr().String()
	base := "https://" + enterprise + "/api/v3"

	posted, out := inChild(t, base, through)
	if posted.Comment == "created" || len(posted.Errors) == 0 || len(s.Calls()) > 0 {
		t.Errorf("without the authority: %s", out)
	}
	for _, no := range []string{"/no/such/file", os.DevNull} {
		if posted, out = inChild(t, base, through, "SSL_CERT_FILE="+no); posted.Comment == "created" || len(s.Calls()) > 0 || !strings.Contains(out, "SSL_CERT_FILE") {
			t.Errorf("with %s as authority: %s", no, out)
		}
	}
	if posted, out = inChild(t, base, through, "SSL_CERT_FILE="+authority); posted.Comment != "created" || len(posted.Errors) > 0 {
		t.Fatalf("with proxy and authority: %s", out)
	}
	for _, c := range s.Calls() {
		if !c.Enterprise || c.Host != enterprise {
			t.Errorf("%s went to host %q", c.Path, c.Host)
		}
	}
	for _, a := range proxy.asked {
		if a != "CONNECT "+enterprise+":443" {
			t.Errorf("the proxy was asked for %s", a)
		}
	}
	if strings.Contains(string(proxy.seen), token) || len(proxy.seen) == 0 {
		t.Errorf("the proxy saw %d bytes, the token among them: %v", len(proxy.seen), strings.Contains(string(proxy.seen), token))
	}
	asked := len(proxy.asked)
	if posted, out = inChild(t, s.URL, through, "SSL_CERT_FILE="+authority); posted.Comment != "unchanged" || len(proxy.asked) != asked {
		t.Errorf("a loopback host goes through no proxy: %s", out)
	}
	if posted, out = inChild(t, base, "HTTPS_PROXY=http://127.0.0.1:1", "SSL_CERT_FILE="+authority); posted.Comment == "created" || !strings.Contains(out, "HTTPS_PROXY") {
		t.Errorf("a proxy that is down: %s", out)
	}
}

func TestAnAddressThatWouldShowTheTokenIsRefused(t *testing.T) {
	for _, base := range []string{
		"http://api.github.com", "http://10.0.0.1:8080", "http://127.0.0.1.example.test", "http://localhost.example.test", "ftp://api.github.com",
		"https://user:hunter2@api.github.com", "https://user:hunter2@api github.com", "https://api.github.com?x", "https://api.github.com#x", "//api.github.com", "api.github.com", "https://", "https://\nx",
	} {
		_, err := github.NewClient(github.ClientOptions{API: base, Token: token, Repository: repository})
		if err == nil || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", base, err)
		}
	}
	for _, base := range []string{"", "https://api.github.com", "https://github.example.test/api/v3/", "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080/api/v3"} {
		if _, err := github.NewClient(github.ClientOptions{API: base, Token: token, Repository: repository}); err != nil {
			t.Errorf("%q: %v", base, err)
		}
	}
}
