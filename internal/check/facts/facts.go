// Package facts reads an answer of a server into the facts of a page, in one pass over its HTML. Whatever the page holds,
// the facts stay small and the work grows with the bytes alone.
package facts

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"time"

	"sightline/internal/seo"
)

// What is kept of a page at most. More is counted where it matters, and said to be cut.
const (
	maxLinks    = 1000 // targets
	maxImages   = 500
	maxElements = 20        // titles, descriptions, canonicals and their like, of each kind
	maxRules    = 50        // robots directives
	maxLines    = 10        // header lines of one name
	maxText     = 512       // bytes of the text of an element
	maxLinkText = 100       // bytes
	maxRaw      = 200       // bytes of a tag or header line as evidence
	maxURL      = 2048      // bytes; longer references are not followed
	maxAttrs    = 256       // attributes of a tag
	maxRead     = 256 << 10 // bytes of a title or a meta element that are looked at
	maxToken    = 2 << 20   // bytes of a tag, a text or a script; a page is read up to a longer one
)

// A Fetch is the answer to one request, with what is known of its address.
type Fetch struct {
	URL       string // in normal form
	Depth     int
	FoundFrom string
	Listed    string
	At        time.Time

	Hops      []seo.Hop
	End       string // where they lead, in normal form
	Status    int
	Failure   seo.Failure
	Reason    string
	FirstByte time.Duration
	Header    map[string][]string // with canonical names
	Body      []byte              // decompressed
	Truncated bool
}

// From gives what reads the references of a page, by its address or by what its base element says. The crawl and the facts
// must agree on it.
type From func(base string) Resolve

// Resolve makes an absolute http or https address of a reference, in normal form without fragment, and says whether it belongs to
// the site under audit; not ok: it is no such address.
type Resolve func(reference string) (address string, internal, ok bool)

// Read makes the facts of a page. Nothing of them refers to the body afterwards. A redirect has no facts but its hops: where
// it ends is a page of its own.
func Read(f Fetch, from From) *seo.Page {
	p := &seo.Page{
		URL: f.URL, Depth: f.Depth, FoundFrom: f.FoundFrom, Listed: f.Listed, FetchedAt: f.At.UTC().Truncate(time.Second),
		Hops: cleanHops(f.Hops), End: f.End, Status: f.Status, Failure: f.Failure, Reason: clean(f.Reason, maxText),
		FirstByte: f.FirstByte, Size: len(f.Body), Truncated: f.Truncated,
	}
	if f.Failure != "" || p.IsRedirect() || f.Status < 200 || f.Status > 299 {
		return p
	}
	contentType := first(f.Header["Content-Type"])
	p.MediaType, p.IsHTML = mediaType(contentType, f.Body)
	resolve := from(p.URL).bounded()
	readHeader(p, f.Header, resolve)
	if p.IsHTML {
		newReader(p, from, resolve).read(utf8Body(f.Body, contentType))
		if upgrades(f.Header["Content-Security-Policy"]) {
			p.Insecure = seo.Sample{}
		}
	}
	return p
}

// cleanHops makes what servers write fit to keep.
func cleanHops(hops []seo.Hop) []seo.Hop {
	hops = slices.Clone(hops)
	for i := range hops {
		hops[i].Location = clean(hops[i].Location, maxText)
	}
	return hops
}

// kept are the headers that say something about a page.
var kept = []string{
	"Cache-Control", "Content-Encoding", "Content-Security-Policy", "Content-Type", "Etag", "Last-Modified", "Link", "Referrer-Policy", "Server",
	"Strict-Transport-Security", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By", "X-Robots-Tag",
}

// readHeader keeps the lines that matter, and takes what they say about indexing.
func readHeader(p *seo.Page, header map[string][]string, resolve Resolve) {
	for _, name := range kept {
		for _, value := range header[name][:min(len(header[name]), maxLines)] {
			line := clean(name+": "+value, maxRaw)
			p.Header = append(p.Header, line)
			switch name {
			case "Link":
				addCanonicalHeader(p, value, line, resolve)
			case "X-Robots-Tag":
				addRules(p, parseRules("", value), line)
			}
		}
	}
}

func addCanonicalHeader(p *seo.Page, value, line string, resolve Resolve) {
	for _, target := range canonicalTargets(value) {
		if len(p.Canonicals) < maxElements {
			c := canonical(target, line, resolve)
			c.Header = true
			p.Canonicals = append(p.Canonicals, c)
		}
	}
}

func canonical(target, raw string, resolve Resolve) seo.Canonical {
	address, internal, _ := resolve(target)
	return seo.Canonical{URL: address, Internal: internal, Raw: raw}
}

// bounded leaves out references that are empty or too long to follow.
func (r Resolve) bounded() Resolve {
	return func(reference string) (string, bool, bool) {
		reference = strings.TrimSpace(reference)
		if reference == "" || len(reference) > maxURL {
			return "", false, false
		}
		address, internal, ok := r(reference)
		if !ok || len(address) > maxURL {
			return "", false, false
		}
		return address, internal, true
	}
}

func addRules(p *seo.Page, rules []seo.RobotsRule, raw string) {
	for _, rule := range rules {
		if len(p.Robots) < maxRules {
			rule.Raw = raw
			p.Robots = append(p.Robots, rule)
		}
	}
}

// mediaType names the type of a body and says whether it is HTML. Without a header the body itself decides.
func mediaType(contentType string, body []byte) (name string, isHTML bool) {
	if contentType == "" {
		start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 256)], "\ufeff \t\r\n"))
		if bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
			return "text/html", true
		}
		return "", false
	}
	name, _, _ = strings.Cut(contentType, ";")
	name = clean(strings.ToLower(strings.TrimSpace(name)), maxLinkText)
	return name, name == "text/html" || name == "application/xhtml+xml"
}

// upgrades says that a policy makes browsers load everything over https.
func upgrades(policies []string) bool {
	for _, policy := range policies {
		for directive := range strings.SplitSeq(policy, ";") {
			if strings.EqualFold(strings.TrimSpace(directive), "upgrade-insecure-requests") {
				return true
			}
		}
	}
	return false
}

// declaredUTF8 says that a content type names UTF-8, so the body need not be asked.
func declaredUTF8(contentType string) bool {
	_, params, err := mime.ParseMediaType(contentType)
	return err == nil && strings.EqualFold(params["charset"], "utf-8")
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
