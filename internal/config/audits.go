package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// checkAudits reads the flags about audits.
func (s *Serve) checkAudits(c *Config) error {
	if c.Audits = s.Audits; c.Audits < 0 || c.Audits > maxAudits {
		return fmt.Errorf("--audits must be from 0 to %d", maxAudits)
	}
	for _, text := range items(s.AllowPrivate) {
		network, err := parseNetwork(text)
		if err != nil {
			return fmt.Errorf("--allow-private-targets must be networks or addresses such as 10.0.0.0/8,192.168.1.7, not %q", text)
		}
		c.AllowPrivate = append(c.AllowPrivate, network)
	}
	for _, text := range items(s.AllowPorts) {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return fmt.Errorf("--allow-ports must be ports such as 8080,8443, not %q", text)
		}
		c.AllowPorts = append(c.AllowPorts, uint16(port))
	}
	return nil
}

// parseNetwork reads a network in CIDR notation, or one address.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return network.Masked(), nil
}

// items are the parts of a list that is written with commas.
func items(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
