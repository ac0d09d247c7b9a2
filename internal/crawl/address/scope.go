package address

import "strings"

// A Scope says which addresses belong to a site: those of its host, with or without www., over http or https.
type Scope struct {
	host       string // without www.
	subdomains bool
}

// ScopeOf is the site that an address belongs to, with its subdomains or without.
func ScopeOf(a Address, subdomains bool) Scope { return Scope{withoutWWW(a.Host), subdomains} }

// Contains says whether an address belongs to the site.
func (s Scope) Contains(a Address) bool {
	host := withoutWWW(a.Host)
	return host == s.host || s.subdomains && strings.HasSuffix(host, "."+s.host)
}

func withoutWWW(host string) string {
	if rest, found := strings.CutPrefix(host, "www."); found && strings.Contains(rest, ".") {
		return rest
	}
	return host
}
