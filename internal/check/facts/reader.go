package facts

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sightline/internal/seo"
)

// A reader goes through the tokens of a page once. It builds no tree, so nesting costs nothing.
type reader struct {
	page    *seo.Page
	from    From
	resolve Resolve
	z       *html.Tokenizer
	https   bool // the page itself is secure
	words   wordCounter

	raw   []byte    // the tag at hand as written, cut
	attrs []attr    // its attributes
	inert int       // open template elements: nothing in them is part of the page
	svg   int       // open svg elements: a title in them is none of the page
	text  atom.Atom // the element whose text is not markup, such as script, while in it
	tag   string    // its start tag as written, for title and JSON-LD
	data  bool      // it is JSON-LD

	inH1     bool
	heading  []byte // the text of the open h1
	h1Raw    []byte // and all of it as written
	link     int    // index of the open link, or -1
	linkText []byte

	links     []reference // in the order of the page; resolved when the base is known
	images    []reference
	canonical []reference
	base      string
	hasScope  bool   // some element has itemscope
	orphan    string // the first element with itemprop, as written
	upgrade   bool   // a policy in a meta element makes browsers load everything over https
}

type attr struct{ key, value []byte }

// A reference is an address as a page writes it.
type reference struct {
	href, rel, text, raw string
}

func newReader(p *seo.Page, from From, resolve Resolve) *reader {
	return &reader{page: p, from: from, resolve: resolve, https: seo.IsHTTPS(p.URL), words: wordCounter{hash: hashStart}, link: -1}
}

// read takes in the whole body.
func (r *reader) read(body []byte) {
	r.z = html.NewTokenizer(bytes.NewReader(body))
	r.z.SetMaxBuf(maxToken)
	for {
		token := r.z.Next()
		if r.inH1 {
			r.h1Raw = keep(r.h1Raw, r.z.Raw(), maxRaw)
		}
		switch token {
		case html.ErrorToken:
			r.page.Truncated = r.page.Truncated || errors.Is(r.z.Err(), html.ErrBufferExceeded)
			r.finish()
			return
		case html.TextToken:
			r.onText()
		case html.StartTagToken:
			r.onStart(false)
		case html.SelfClosingTagToken:
			r.onStart(true)
		case html.EndTagToken:
			r.onEnd()
		}
	}
}

func (r *reader) onText() {
	switch {
	case r.inert > 0:
	case r.text == atom.Title:
		raw := string(r.z.Raw()[:min(len(r.z.Raw()), maxRaw+1)]) // taken first: Text changes it
		r.addTitle(r.z.Text(), raw)
	case r.data:
		if problem := jsonProblem(r.z.Text()); problem != "" {
			r.page.BadData.Add(r.tag + ": " + problem)
		}
		r.data = false
	case r.text == 0:
		text := r.z.Text()
		r.words.add(text)
		if r.inH1 {
			r.heading = keep(r.heading, text, maxText)
		}
		if r.link >= 0 {
			r.linkText = keep(r.linkText, text, maxLinkText)
		}
	}
}

// keep appends as much of text as there is room for.
func keep(to, text []byte, limit int) []byte {
	return append(to, text[:min(len(text), max(0, limit+utf8.UTFMax-len(to)))]...)
}

func (r *reader) addTitle(text []byte, raw string) {
	if len(r.page.Titles) < maxElements {
		r.page.Titles = append(r.page.Titles, element(collapse(text[:min(len(text), maxRead)]), r.tag+clean(raw, maxRaw)+"</title>"))
	}
}

func element(text, raw string) seo.Element {
	return seo.Element{Text: clean(text, maxText), Length: utf8.RuneCountInString(text), Raw: raw}
}

func (r *reader) onStart(closed bool) {
	r.raw = append(r.raw[:0], r.z.Raw()[:min(len(r.z.Raw()), maxRaw+1)]...)
	tag := tagOf(r.raw[1:])
	if !inline(tag) {
		r.words.split()
	}
	if r.svg > 0 && leavesDrawing(tag) {
		r.svg = 0
	}
	r.endText()
	switch {
	case tag == atom.Template:
		r.inert++
	case r.inert > 0:
		return
	}
	microdata := bytes.Contains(r.z.Raw(), []byte("item"))
	r.readAttrs(microdata || wanted(tag))
	switch {
	case closed && r.svg > 0:
		r.z.NextIsNotRawText() // in a drawing even a title or style can close itself
	case rawText(tag):
		r.text, r.tag = tag, r.evidence()
	}
	r.element(tag, closed)
	if microdata {
		r.microdata()
	}
}

// tagOf is the element that a tag, without its opening bracket, names; 0 for one that HTML does not know. The tokenizer would copy
// every name.
func tagOf(tag []byte) atom.Atom {
	var name [16]byte
	for i, c := range tag[:min(len(tag), len(name))] {
		switch {
		case c <= ' ' || c == '/' || c == '>':
			return atom.Lookup(name[:i])
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		name[i] = c
	}
	return 0
}

// readAttrs takes the attributes of a tag that needs them.
func (r *reader) readAttrs(needed bool) {
	r.attrs = r.attrs[:0]
	if !needed {
		return
	}
	for _, more := r.z.TagName(); more && len(r.attrs) < maxAttrs; {
		var a attr
		a.key, a.value, more = r.z.TagAttr()
		r.attrs = append(r.attrs, a)
	}
}

// element does what a start tag asks for.
func (r *reader) element(tag atom.Atom, closed bool) {
	switch tag {
	case atom.Html:
		if r.page.Root == "" {
			r.page.Root, r.page.Lang = r.evidence(), clean(r.value("lang"), maxLinkText)
		}
	case atom.Base:
		if r.base == "" {
			r.base = r.value("href")
		}
	case atom.Title:
		if r.svg > 0 && !closed {
			r.text = atom.Style // the name of a drawing: skipped like a style element
		}
	case atom.Meta:
		r.meta()
	case atom.Link:
		r.linkElement()
	case atom.Script:
		kind, _, _ := strings.Cut(r.value("type"), ";")
		r.data = strings.EqualFold(strings.TrimSpace(kind), "application/ld+json")
		r.page.HasData = r.page.HasData || r.data
		r.loads("src")
	case atom.A, atom.Area:
		r.startLink(tag)
	case atom.H1:
		r.endHeading()
		r.inH1, r.h1Raw = true, append(r.h1Raw[:0], r.raw...)
	case atom.Img, atom.Image, atom.Input:
		if r.svg == 0 {
			r.image(tag)
		}
	case atom.Source, atom.Video, atom.Audio, atom.Track, atom.Iframe, atom.Embed, atom.Object:
		r.media(tag)
	case atom.Svg:
		if !closed {
			r.svg++
		}
	}
}

func (r *reader) onEnd() {
	tag := tagOf(r.z.Raw()[2:])
	if !inline(tag) {
		r.words.split()
	}
	r.endText()
	switch tag {
	case atom.Template:
		r.inert = max(0, r.inert-1)
	case atom.Svg:
		r.svg = max(0, r.svg-1)
	case atom.A:
		r.endLink()
	case atom.H1:
		r.endHeading()
	}
}

// endText leaves an element whose text is not markup. One of JSON-LD that had no text at all is as bad as broken JSON.
func (r *reader) endText() {
	switch {
	case r.text == atom.Title && len(r.page.Titles) == 0:
		r.addTitle(nil, "")
	case r.data:
		r.page.BadData.Add(r.tag + ": " + jsonProblem(nil))
	}
	r.text, r.data = 0, false
}

func (r *reader) endHeading() {
	if !r.inH1 {
		return
	}
	if len(r.page.Headings) < maxElements {
		r.page.Headings = append(r.page.Headings, element(collapse(r.heading), clean(string(r.h1Raw), maxRaw)))
	}
	r.heading, r.inH1 = r.heading[:0], false
}

// value is an attribute of the tag at hand; empty where there is none. Of equal names the first counts.
func (r *reader) value(key string) string {
	value, _ := r.lookup(key)
	return string(value)
}

func (r *reader) lookup(key string) (value []byte, found bool) {
	for _, a := range r.attrs {
		if string(a.key) == key {
			return a.value, true
		}
	}
	return nil, false
}

// evidence is the tag at hand as written.
func (r *reader) evidence() string { return clean(string(r.raw), maxRaw) }

// wanted are the elements whose attributes are facts.
func wanted(tag atom.Atom) bool {
	switch tag {
	case atom.Html, atom.Base, atom.Meta, atom.Link, atom.Script, atom.A, atom.Area, atom.Img, atom.Image, atom.Input, atom.Source,
		atom.Video, atom.Audio, atom.Track, atom.Iframe, atom.Embed, atom.Object:
		return true
	}
	return false
}

// rawText are the elements whose content is text that no visitor reads as such.
func rawText(tag atom.Atom) bool {
	switch tag {
	case atom.Title, atom.Script, atom.Style, atom.Textarea, atom.Iframe, atom.Noscript, atom.Noembed, atom.Noframes, atom.Xmp, atom.Plaintext:
		return true
	}
	return false
}

// leavesDrawing are elements that cannot be in a drawing: it must have ended, though nothing says so.
func leavesDrawing(tag atom.Atom) bool {
	switch tag {
	case atom.Body, atom.Div, atom.Dl, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Hr, atom.Img, atom.Li, atom.Meta, atom.Ol,
		atom.P, atom.Pre, atom.Table, atom.Ul:
		return true
	}
	return false
}

// inline are the elements that do not part words.
func inline(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Kbd, atom.Mark, atom.Q, atom.S,
		atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
