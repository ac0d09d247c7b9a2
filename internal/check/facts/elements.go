package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"sightline/internal/seo"
)

// meta reads a meta element.
func (r *reader) meta() {
	name, content := r.value("name"), r.value("content")
	switch {
	case strings.EqualFold(name, "description"):
		r.page.Descriptions = r.add(r.page.Descriptions, content)
	case strings.EqualFold(name, "viewport"):
		r.page.Viewports = r.add(r.page.Viewports, content)
	case strings.EqualFold(r.value("http-equiv"), "Content-Security-Policy"):
		r.upgrade = r.upgrade || upgrades([]string{content})
	default:
		addRules(r.page, parseRobotsMeta(name, content), r.evidence())
	}
}

// add keeps the tag at hand as an element with that text.
func (r *reader) add(to []seo.Element, text string) []seo.Element {
	if len(to) == maxElements {
		return to
	}
	return append(to, element(strings.Join(strings.Fields(text[:min(len(text), maxRead)]), " "), r.evidence()))
}

// linkElement reads a link element: a canonical, or something that the page loads.
func (r *reader) linkElement() {
	rel := r.value("rel")
	switch {
	case hasWord(rel, "canonical"):
		if len(r.canonical) < maxElements {
			r.canonical = append(r.canonical, reference{href: r.value("href"), raw: r.evidence()})
		}
	case hasWord(rel, "stylesheet"), hasWord(rel, "icon"), hasWord(rel, "preload"), hasWord(rel, "modulepreload"), hasWord(rel, "manifest"):
		r.loads("href")
	}
}

// startLink begins a link; its text follows.
func (r *reader) startLink(tag atom.Atom) {
	r.endLink()
	href, found := r.lookup("href")
	switch {
	case !found || r.svg > 0:
		return
	case len(r.links) == maxLinks*4: // most targets recur: far more than maxLinks may be read before that many are known
		r.page.LinksCut = true
		return
	}
	r.links = append(r.links, reference{href: string(href), rel: clean(r.value("rel"), maxLinkText), raw: r.evidence()})
	if tag == atom.A {
		r.link = len(r.links) - 1
	} else {
		r.links[len(r.links)-1].text = clean(r.value("alt"), maxLinkText)
	}
}

func (r *reader) endLink() {
	if r.link >= 0 {
		r.links[r.link].text = clean(collapse(r.linkText), maxLinkText)
	}
	r.link, r.linkText = -1, r.linkText[:0]
}

// image reads an img element, or an input that is one.
func (r *reader) image(tag atom.Atom) {
	if tag == atom.Input && !strings.EqualFold(r.value("type"), "image") {
		return
	}
	alt, described := r.lookup("alt")
	if !described && tag != atom.Input {
		r.page.NoAlt.Add(r.evidence())
	}
	if r.inH1 {
		r.heading = keep(append(r.heading, ' '), alt, maxText)
	}
	if r.link >= 0 {
		r.linkText = keep(append(r.linkText, ' '), alt, maxLinkText)
	}
	r.loads("src", "srcset")
	src, _ := r.lookup("src")
	r.words.split()
	for _, b := range src {
		r.words.mix(b)
	}
	r.words.split()
	r.addImage(string(src))
	r.addImages()
}

// media reads an element that loads something else.
func (r *reader) media(tag atom.Atom) {
	switch tag {
	case atom.Source:
		r.loads("src", "srcset")
		r.addImages()
	case atom.Video:
		r.loads("src", "poster")
		r.addImage(r.value("poster"))
	case atom.Object:
		r.loads("data")
	default:
		r.loads("src")
	}
}

// addImages takes the addresses of a srcset.
func (r *reader) addImages() {
	if srcset := r.value("srcset"); srcset != "" {
		for _, target := range srcsetTargets(srcset, maxElements) {
			r.addImage(target)
		}
	}
}

func (r *reader) addImage(target string) {
	switch {
	case target == "":
	case len(r.images) == maxImages*4:
		r.page.ImagesCut = true
	default:
		r.images = append(r.images, reference{href: target, raw: r.evidence()})
	}
}

// loads notes a tag by which a secure page loads something over http.
func (r *reader) loads(keys ...string) {
	if !r.https {
		return
	}
	for _, key := range keys {
		if value, _ := r.lookup(key); isPlain(value) || key == "srcset" && slices.ContainsFunc(srcsetTargets(string(value), maxElements), isPlain) {
			r.page.Insecure.Add(r.evidence())
			return
		}
	}
}

func isPlain[T string | []byte](href T) bool {
	const scheme = "http://"
	start := 0
	for start < len(href) && href[start] <= ' ' {
		start++
	}
	return len(href)-start > len(scheme) && strings.EqualFold(string(href[start:start+len(scheme)]), scheme)
}

// microdata holds the attributes of microdata to their rules.
func (r *reader) microdata() {
	_, scope := r.lookup("itemscope")
	r.page.HasData = r.page.HasData || scope
	kind, typed := r.lookup("itemtype")
	prop, named := r.lookup("itemprop")
	r.hasScope = r.hasScope || scope
	if named && r.orphan == "" {
		r.orphan = r.evidence()
	}
	switch {
	case typed && !scope:
		r.page.HasData = true
		r.page.BadData.Add(r.evidence() + ": itemtype without itemscope")
	case typed && !bytes.Contains(kind, []byte(":")):
		r.page.BadData.Add(r.evidence() + ": itemtype is not an absolute address")
	case named && len(bytes.TrimSpace(prop)) == 0:
		r.page.BadData.Add(r.evidence() + ": itemprop is empty")
	}
}

// jsonProblem says why text is not JSON; empty when it is.
func jsonProblem(text []byte) string {
	if json.Valid(text) {
		return ""
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "it is empty"
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, new(any)); errors.As(err, &syntax) {
		at := min(int(syntax.Offset), len(text))
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		near := clean(string(text[max(0, at-20):min(len(text), at+20)]), maxLinkText)
		return clean(syntax.Error(), maxLinkText) + " in line " + strconv.Itoa(line) + " near " + near
	}
	return "it is not JSON"
}

// finish closes what is open and resolves all references, now that the base is known.
func (r *reader) finish() {
	r.endText()
	r.endLink()
	r.endHeading()
	r.words.split()
	p := r.page
	p.Words, p.TextHash = r.words.words, r.words.hash
	if r.orphan != "" && !r.hasScope {
		p.HasData = true
		p.BadData.Add(r.orphan + ": itemprop without any itemscope")
	}
	if r.upgrade {
		p.Insecure = seo.Sample{}
	}
	if address, _, ok := r.resolve(r.base); ok {
		p.Base, r.resolve = address, r.from(address).bounded()
	}
	for _, c := range r.canonical {
		p.Canonicals = append(p.Canonicals, canonical(c.href, c.raw, r.resolve))
	}
	r.resolveLinks()
	r.resolveImages()
}

// resolveLinks keeps one link for each target. Each reference as written is resolved once.
func (r *reader) resolveLinks() {
	p := r.page
	known := make(map[string]bool, len(r.links))
	p.Links = make([]seo.Link, 0, min(len(r.links), maxLinks))
	for _, l := range r.links {
		if known[l.href] || strings.HasPrefix(l.href, "#") {
			continue
		}
		known[l.href] = true
		address, internal, ok := r.resolve(l.href)
		if !ok || known[address] && address != l.href {
			continue
		}
		known[address] = true
		if len(p.Links) == maxLinks {
			p.LinksCut = true
			return
		}
		p.Links = append(p.Links, seo.Link{URL: address, Internal: internal, Rel: l.rel, Text: l.text, Raw: l.raw})
	}
}

// resolveImages keeps one image for each address.
func (r *reader) resolveImages() {
	p := r.page
	known := make(map[string]bool, len(r.images))
	for _, image := range r.images {
		address, _, ok := r.resolve(image.href)
		if !ok || known[address] {
			continue
		}
		known[address] = true
		if len(p.Images) == maxImages {
			p.ImagesCut = true
			return
		}
		p.Images = append(p.Images, seo.Image{URL: address, Raw: image.raw})
	}
}
