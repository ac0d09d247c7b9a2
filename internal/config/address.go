package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

var errAddress = errors.New("must be an http or https address such as http://localhost:8081 or https://seo.example.com")

// parseURL reads the base URL of an area: scheme, host and port. Its host becomes lower case and ASCII; the scheme's own
// port and a trailing slash are dropped.
func parseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(strings.TrimSpace(text))
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return nil, errAddress
	}
	switch {
	case parsed.User != nil:
		return nil, errors.New("must not contain a user name or password")
	case parsed.Path != "" && parsed.Path != "/":
		return nil, errors.New("must not contain a path: each area needs a host or port of its own")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, errors.New("must not contain a query or fragment")
	}
	host, err := parseHost(parsed.Hostname())
	if err != nil {
		return nil, err
	}
	port := parsed.Port()
	if strings.HasSuffix(parsed.Host, ":") || port != "" && !isPort(port) {
		return nil, errors.New("must have a port from 0 to 65535, or none")
	}
	switch {
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[parsed.Scheme]:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return &url.URL{Scheme: parsed.Scheme, Host: host}, nil
}

// names brings host names into lower case and ASCII. Underscores are fine: containers have them.
var names = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// parseHost brings a name or an IP address into the form in which browsers send it.
func parseHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	host, err := names.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || len(host) > 253 {
		return "", errAddress
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", errAddress
		}
	}
	return host, nil
}

// isListenAddress says whether a listener could be opened at host:port or :port.
func isListenAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	return err == nil && isPort(port) && !strings.ContainsAny(host, " /@")
}

// isLoopback says whether host:port can be reached from this machine only.
func isLoopback(text string) bool {
	host, _, err := net.SplitHostPort(text)
	addr, notIP := netip.ParseAddr(host)
	return err == nil && isListenAddress(text) && (strings.EqualFold(host, "localhost") || notIP == nil && addr.IsLoopback() && addr.Zone() == "")
}

// isPort takes the numbers of ports as they are usually written.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// parseNetworks reads addresses and ranges with commas or spaces between them; "none" is an empty list.
func parseNetworks(text string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	if len(entries) == 1 && strings.EqualFold(entries[0], "none") {
		return nil, nil
	}
	for _, entry := range entries {
		if addr, err := netip.ParseAddr(entry); err == nil && addr.Zone() == "" {
			entry = netip.PrefixFrom(addr, addr.BitLen()).String()
		}
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			return nil, fmt.Errorf("has an entry that is no address or range such as 10.0.0.0/8: %q", entry)
		}
		if network.Addr().Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
		}
		networks = append(networks, network.Masked())
	}
	if len(networks) == 0 {
		return nil, errors.New(`must be addresses or ranges such as 10.0.0.0/8, or "none"`)
	}
	return networks, nil
}
