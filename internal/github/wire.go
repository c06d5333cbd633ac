package github

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

var (
	errBudget = errors.New("the time for publishing is over")
	errCalls  = errors.New("the calls for publishing are used up")
	errEnded  = errors.New("the job is being ended")
	errProxy  = errors.New("HTTPS_PROXY is not the address of a proxy")
)

// errAnswer says that a call was answered, and what it did is unknown.
var errAnswer = errors.New("the answer is not what the API writes")

const (
	answerBytes  = 32 << 20
	betweenWrite = time.Second // GitHub asks for a second between two writes
)

// wire carries single requests: it counts them, keeps writes a second apart, and hands over whole answers alone. One that
// is cut off, or that a proxy wrote, is an error here, where it can still be asked for again.
type wire struct {
	next  http.RoundTripper
	most  int // calls allowed
	calls int // calls made
	wrote time.Time
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.calls >= w.most {
		return nil, errCalls
	}
	if !reads(r.Method) {
		if err := wait(r.Context(), betweenWrite-time.Since(w.wrote)); err != nil {
			return nil, err
		}
		defer func() { w.wrote = time.Now() }()
	}
	w.calls++
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return whole(resp)
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// whole reads the body to its end and looks at it.
func whole(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerBytes+1))
	switch good := resp.StatusCode >= 200 && resp.StatusCode < 300; {
	case err != nil && good:
		return nil, fmt.Errorf("%w: it was cut off after %d bytes: %w", errAnswer, len(body), err)
	case len(body) > answerBytes:
		return nil, fmt.Errorf("%w: it is over %d bytes long", errAnswer, answerBytes)
	case good && resp.StatusCode != http.StatusNoContent && !json.Valid(body):
		return nil, fmt.Errorf("%w: %d bytes that are not JSON", errAnswer, len(body))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// ended is why a context has ended: because its time is over, or because the caller has given up. It is nil before that.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, errBudget) {
		return cause
	}
	return fmt.Errorf("%w: %w", errEnded, cause)
}

// wait ends early with the reason that the context has, and at once where the wait would outlast it.
func wait(ctx context.Context, d time.Duration) error {
	if err := ended(ctx); err != nil || d <= 0 {
		return err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return errBudget
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ended(ctx)
	case <-t.C:
		return nil
	}
}

// environmentTransport heeds HTTPS_PROXY, HTTP_PROXY and NO_PROXY as this process found them, and adds the authorities of
// SSL_CERT_FILE on systems that look for theirs elsewhere.
func environmentTransport() (http.RoundTripper, error) {
	t := &http.Transport{
		Proxy:                 proxy,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: attemptTime,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          2,
		IdleConnTimeout:       30 * time.Second,
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		pool, err := authorities(file)
		if err != nil {
			return nil, fmt.Errorf("publish: %w", err)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

// proxy is that of the environment. One that cannot be read is not repeated: it may hold a password.
func proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errProxy
	}
	return u, nil
}

func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read SSL_CERT_FILE: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read SSL_CERT_FILE: %q holds no certificate", file)
	}
	return pool, nil
}
