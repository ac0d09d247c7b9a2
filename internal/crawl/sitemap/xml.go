package sitemap

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// Bounds against files that are made to hurt.
const (
	maxDepth = 32        // elements within elements
	maxToken = 256 << 10 // bytes of one tag or text
	maxField = 4 << 10   // bytes of one address or date
	maxCount = 4_000_000 // tags and texts in one file: eighty for each address
)

var (
	errDeep  = errors.New("the elements are nested too deeply")
	errToken = errors.New("a single element is too large")
)

// tokens feeds the decoder and refuses a token that has no end.
type tokens struct {
	*bufio.Reader
	left int
}

// ReadByte implements io.ByteReader.
func (t *tokens) ReadByte() (byte, error) {
	if t.left--; t.left < 0 {
		return 0, errToken
	}
	return t.Reader.ReadByte()
}

// Read implements io.Reader, for files in other encodings than UTF-8.
func (t *tokens) Read(p []byte) (int, error) {
	if t.left < 0 {
		return 0, errToken
	}
	n, err := t.Reader.Read(p[:min(len(p), 4096)])
	t.left -= n
	return n, err
}

// A document is an XML sitemap that is being read.
type document struct {
	file    *File
	decoder *xml.Decoder
	in      *tokens
	path    []string // the names of the open elements, in lower case
	entry   fields
}

// fields are what an entry has said so far.
type fields struct {
	line               int
	address, modified  string
	linked, fromSource bool // an Atom link was found; it is the alternate one
}

// entryOf maps the root of a file to its kind and to the element of one entry.
var entryOf = map[string]struct {
	kind  Kind
	entry string
}{
	"urlset": {URLs, "url"}, "sitemapindex": {Index, "sitemap"}, "rss": {RSS, "item"}, "rdf": {RSS, "item"}, "feed": {Atom, "entry"},
}

func (f *File) readXML(from *bufio.Reader) error {
	in := &tokens{Reader: from}
	d := document{file: f, decoder: xml.NewDecoder(in), in: in}
	d.decoder.CharsetReader = func(label string, input io.Reader) (io.Reader, error) { return charset.NewReaderLabel(label, input) }
	if start, _ := from.Peek(2); utf16(start) {
		decoded, err := charset.NewReaderLabel("utf-16", in)
		if err != nil {
			return err
		}
		d.decoder = xml.NewDecoder(decoded)
		d.decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	}
	for range f.limits.tokens {
		in.left = maxToken
		token, err := d.decoder.Token()
		if err == io.EOF && f.Kind != "" {
			return nil
		}
		if err == io.EOF {
			return WrongRoot
		}
		if err != nil {
			line, _ := d.decoder.InputPos()
			return fmt.Errorf("line %d: %w", line, err)
		}
		if more, err := d.take(token); err != nil || !more {
			return err
		}
	}
	f.TooLarge = true
	return nil
}

// take follows one token; false says that the file is full.
func (d *document) take(token xml.Token) (bool, error) {
	switch token := token.(type) {
	case xml.StartElement:
		return true, d.open(token)
	case xml.CharData:
		d.text(token)
	case xml.EndElement:
		return d.close(), nil
	}
	return true, nil
}

func (d *document) open(tag xml.StartElement) error {
	name := strings.ToLower(tag.Name.Local)
	if len(d.path) == maxDepth {
		return errDeep
	}
	if len(d.path) == 0 && d.file.Kind == "" {
		root, known := entryOf[name]
		if !known {
			return WrongRoot
		}
		d.file.Kind = root.kind
	}
	d.path = append(d.path, name)
	if d.isEntry() {
		line, _ := d.decoder.InputPos()
		d.entry = fields{line: line}
	}
	if d.file.Kind == Atom && name == "link" && d.inEntry() {
		d.link(tag)
	}
	return nil
}

// isEntry says that the innermost open element is an entry.
func (d *document) isEntry() bool { return len(d.path) > 1 && d.at(len(d.path)-1) }

// inEntry says that the innermost open element lies directly in an entry.
func (d *document) inEntry() bool { return len(d.path) > 2 && d.at(len(d.path)-2) }

// at says that an open element is an entry of this kind of file. Those of RSS lie in a channel, the others in the root.
func (d *document) at(i int) bool {
	return d.path[i] == entryOf[d.path[0]].entry && (i == 1 || d.file.Kind == RSS && i == 2)
}

// link takes the address of an Atom entry: its alternate link, or its first.
func (d *document) link(tag xml.StartElement) {
	var href, rel string
	for _, attribute := range tag.Attr {
		switch attribute.Name.Local {
		case "href":
			href = attribute.Value
		case "rel":
			rel = attribute.Value
		}
	}
	alternate := rel == "" || rel == "alternate"
	if href != "" && !d.entry.fromSource && (alternate || !d.entry.linked) {
		d.entry.address, d.entry.linked, d.entry.fromSource = href, true, alternate
	}
}

// text adds to the field of an entry that is open.
func (d *document) text(data xml.CharData) {
	if !d.inEntry() {
		return
	}
	var field *string
	switch name := d.path[len(d.path)-1]; {
	case name == "loc" && d.file.Kind != Atom, name == "link" && d.file.Kind == RSS:
		field = &d.entry.address
	case name == "lastmod", name == "pubdate", name == "updated":
		field = &d.entry.modified
	default:
		return
	}
	if len(*field) < maxField {
		*field += string(data[:min(len(data), maxField)])
	}
}

// close ends the innermost element; false says that the file is full.
func (d *document) close() bool {
	entry := d.isEntry()
	d.path = d.path[:len(d.path)-1]
	return !entry || d.file.add(d.entry.line, strings.TrimSpace(d.entry.address), strings.TrimSpace(d.entry.modified))
}
