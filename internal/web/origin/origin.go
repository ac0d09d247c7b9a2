// Package origin finds out which address a request comes from, also behind proxies.
package origin

import (
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is how many proxies in a row are followed.
const maxHops = 50

// Proxies are those whose word is taken for who a request comes from. Whoever else sends such a header is not believed.
type Proxies struct {
	Trusted []netip.Prefix
	Header  string // X-Forwarded-For, Forwarded or X-Real-IP: the one that they set; what callers write into the others passes them
}

// Client is the address that a request comes from: the nearest to us that is no trusted proxy, or the farthest if all are.
// What cannot be read ends the way back: the last address before it stands. It is zero when even the peer has none.
func (p Proxies) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := peer.Addr().Unmap().WithZone("")
	hops := 0
	for text := range p.nearestFirst(r.Header) {
		if hops++; !p.trusts(client) || hops > maxHops {
			break
		}
		addr, ok := parseNode(text)
		if !ok {
			break
		}
		client = addr
	}
	return client
}

func (p Proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// nearestFirst lists what the header says of each hop. Every proxy adds to its end, so it is read from there: what a caller
// put before cannot change how the rest is read.
func (p Proxies) nearestFirst(header http.Header) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(header.Values(p.Header)) {
			for more := true; more; {
				var entry string
				switch p.Header {
				case "X-Real-IP": // one address, never a list
					entry, more = line, false
				case "Forwarded":
					line, entry, more = cutLast(line, ',')
					entry = forwardedFor(entry)
				default:
					comma := strings.LastIndexByte(line, ',')
					line, entry, more = line[:max(comma, 0)], line[comma+1:], comma >= 0
				}
				if !yield(entry) {
					return
				}
			}
			if p.Header == "X-Real-IP" {
				return
			}
		}
	}
}

// cutLast splits a list at its last separator outside quotes.
func cutLast(list string, separator byte) (before, last string, found bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"' && !escaped(list[:i]):
			quoted = !quoted
		case list[i] == separator && !quoted:
			return list[:i], list[i+1:], true
		}
	}
	return "", list, false
}

// escaped says whether a backslash before a character takes its meaning.
func escaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// forwardedFor is the node that an element of Forwarded such as for="[2001:db8::1]:4711";proto=https names; empty when there
// is none, or more than one.
func forwardedFor(element string) string {
	node := ""
	for more := true; more; {
		var pair string
		element, pair, more = cutLast(element, ';')
		name, value, _ := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if node != "" {
			return ""
		}
		node = value
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			node = value[1 : len(value)-1]
		}
	}
	return node
}

// parseNode reads an address, with or without brackets and port. Names, "unknown" and hidden identifiers are none.
func parseNode(text string) (netip.Addr, bool) {
	text = strings.Trim(text, " \t")
	addr, err := netip.ParseAddr(text)
	if inner, bracketed := strings.CutPrefix(text, "["); err != nil && bracketed && strings.HasSuffix(inner, "]") {
		addr, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
	}
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		addr = withPort.Addr()
	}
	return addr.Unmap(), err == nil && addr.Zone() == ""
}
