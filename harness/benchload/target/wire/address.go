// Package wire is HTTP/1.1 as a load generator needs it: one kept connection
// for each client, requests written in one piece, answers read whole into memory
// that is used again. The standard library's client costs about twenty
// microseconds a request, which would be measured as the server's.
package wire

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Address is a server.
type Address struct {
	Host string // with the port
	Path string // before every path, without a slash at its end
	TLS  bool
}

// ParseAddress reads a URL such as http://127.0.0.1:8086.
func ParseAddress(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return Address{}, fmt.Errorf("%q is not the address of a server; give one such as http://127.0.0.1:8086", text)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Address{}, fmt.Errorf("the address %q has more than a host, a port and a path; leave the rest out", u.Redacted())
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	return Address{Host: host, Path: strings.TrimRight(u.EscapedPath(), "/"), TLS: u.Scheme == "https"}, nil
}

// Scheme returns http or https.
func (a Address) Scheme() string {
	if a.TLS {
		return "https"
	}
	return "http"
}

// dial opens a connection.
func (a Address) dial(timeout time.Duration) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: timeout}
	if a.TLS {
		return tls.DialWithDialer(dialer, "tcp", a.Host, nil)
	}
	return dialer.Dial("tcp", a.Host)
}
