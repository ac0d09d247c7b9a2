package analytics

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// The limits of the two exclusion lists.
const (
	MaxParams      = 100
	MaxParamLength = 100 // characters
	MaxIPs         = 500
)

// entries splits a list at line breaks, commas, semicolons and spaces.
func entries(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r == '\n' || r == '\r' || r == ',' || r == ';' || r == ' '
	})
}

// ParseParams reads a list of query parameter names. A * inside a name stands for any characters;
// the single entry & stands for the whole query.
func ParseParams(text string) ([]string, error) {
	names := entries(text)
	if len(names) > MaxParams {
		return nil, fmt.Errorf("must be at most %d names, not %d", MaxParams, len(names))
	}
	for _, name := range names {
		if utf8.RuneCountInString(name) > MaxParamLength {
			return nil, fmt.Errorf("has a name of more than %d characters: %s…", MaxParamLength, string([]rune(name)[:20]))
		}
	}
	return names, nil
}

// ParseIPs reads a list of addresses, CIDR ranges and ranges written like 10.0.0.*.
func ParseIPs(text string) ([]netip.Prefix, error) {
	list := entries(text)
	if len(list) > MaxIPs {
		return nil, fmt.Errorf("must be at most %d addresses or ranges, not %d", MaxIPs, len(list))
	}
	prefixes := make([]netip.Prefix, 0, len(list))
	for _, entry := range list {
		prefix, err := parseIPs(entry)
		if err != nil {
			shown := []rune(entry)
			return nil, fmt.Errorf("has an entry that is no IP address or range: %s", string(shown[:min(len(shown), 60)]))
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

var errNoAddress = errors.New("no IP address or range")

// parseIPs reads one entry. An IPv4 address inside an IPv6 one becomes the IPv4 address.
func parseIPs(entry string) (netip.Prefix, error) {
	if strings.HasSuffix(entry, "*") {
		return parseStars(entry)
	}
	if strings.Contains(entry, "/") {
		prefix, err := netip.ParsePrefix(entry)
		if err != nil {
			return netip.Prefix{}, errNoAddress
		}
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		return prefix.Masked(), nil
	}
	addr, err := netip.ParseAddr(entry)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, errNoAddress
	}
	addr = addr.Unmap()
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// parseStars reads 10.0.0.*, 10.0.*.* or 10.0.* as the IPv4 range that it means.
func parseStars(entry string) (netip.Prefix, error) {
	parts := strings.Split(entry, ".")
	if len(parts) < 2 || len(parts) > 4 {
		return netip.Prefix{}, errNoAddress
	}
	known := len(parts)
	for known > 0 && parts[known-1] == "*" {
		known--
	}
	if known == 0 {
		return netip.Prefix{}, errNoAddress
	}
	octets := append(parts[:known:known], "0", "0", "0")[:4]
	addr, err := netip.ParseAddr(strings.Join(octets, "."))
	if err != nil || !addr.Is4() {
		return netip.Prefix{}, errNoAddress
	}
	return netip.PrefixFrom(addr, 8*known), nil
}
