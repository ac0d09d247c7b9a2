package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// A Place is where an area can be reached and where the program listens for it.
type Place struct {
	URL    *url.URL // its base URL; port 0 becomes the port that was bound
	Listen string   // host:port to listen on; empty: what follows from URL
}

// addresses lists what to listen on: loopback when the URL's host is there, else every interface.
func (p Place) addresses() []string {
	if p.Listen != "" {
		return []string{p.Listen}
	}
	host, port := p.URL.Hostname(), p.URL.Port()
	if port == "" {
		port = schemePort(p.URL)
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "localhost" || err == nil && addr.IsLoopback():
		loopback := []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
		if own := net.JoinHostPort(host, port); err == nil && !slices.Contains(loopback, own) {
			loopback = append(loopback, own)
		}
		return loopback
	default:
		return []string{":" + port}
	}
}

func schemePort(base *url.URL) string {
	return map[string]string{"http": "80", "https": "443"}[base.Scheme]
}

// A Door is a set of listeners on one port, with the places behind it.
type Door struct {
	Places    []*Place
	admin     http.Handler // behind it instead of places, if set
	listeners []net.Listener
}

// Listen binds the ports of all places. Places with the same address share a door, and so do those with the same URL.
func Listen(places ...*Place) ([]*Door, error) {
	var doors []*Door
	taken := map[string]*Door{}
	for _, place := range places {
		addresses := place.addresses()
		name := strings.Join(addresses, " ")
		if door := taken[name]; door != nil {
			if other := door.Places[0].URL; *other != *place.URL && isHost(other.Host, place.URL, true) {
				return nil, errors.Join(fmt.Errorf("%s and %s cannot share a port: the Host header does not tell them apart", other, place.URL), CloseDoors(doors))
			}
			door.Places = append(door.Places, place)
			continue
		}
		door := &Door{Places: []*Place{place}}
		doors = append(doors, door)
		if err := door.bind(addresses, "--seo-url and --analytics-url"); err != nil {
			return nil, errors.Join(err, CloseDoors(doors))
		}
		if place.URL.Port() == "0" {
			place.URL.Host = net.JoinHostPort(place.URL.Hostname(), door.port())
			continue // each has a port of its own
		}
		taken[name] = door
	}
	if len(doors) == 2 && *places[0].URL == *places[1].URL {
		doors[0].Places, doors[1].Places = places, places
	}
	return doors, nil
}

// CloseDoors gives the ports back.
func CloseDoors(doors []*Door) error {
	var all []error
	for _, door := range doors {
		for _, listener := range door.listeners {
			all = append(all, listener.Close())
		}
	}
	return errors.Join(all...)
}

// bind listens on every address. After the first, a port 0 becomes the port of the first, and an address that this
// machine does not have (IPv6 switched off) is left out. flags are those that choose the port.
func (d *Door) bind(addresses []string, flags string) error {
	for _, address := range addresses {
		if host, port, err := net.SplitHostPort(address); err == nil && port == "0" && len(d.listeners) > 0 {
			address = net.JoinHostPort(host, d.port())
		}
		listener, err := (&net.ListenConfig{Control: bounded}).Listen(context.Background(), "tcp", address)
		switch {
		case err == nil:
			d.listeners = append(d.listeners, listener)
		case len(d.listeners) > 0 && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)):
		case errors.Is(err, syscall.EADDRINUSE):
			return fmt.Errorf("%s is already in use: stop the program that listens there, or choose another port with %s", address, flags)
		case errors.Is(err, syscall.EACCES):
			return fmt.Errorf("not allowed to listen on %s: choose a port above 1023, or grant the program that right", address)
		default:
			var cause *net.OpError
			if errors.As(err, &cause) {
				err = cause.Err
			}
			return fmt.Errorf("cannot listen on %s: %w", address, err)
		}
	}
	return nil
}

// Addresses lists what the door listens on.
func (d *Door) Addresses() []net.Addr {
	var addresses []net.Addr
	for _, listener := range d.listeners {
		addresses = append(addresses, listener.Addr())
	}
	return addresses
}

func (d *Door) port() string {
	_, port, _ := net.SplitHostPort(d.listeners[0].Addr().String()) // a bound TCP address always has a port
	return port
}
