// Package sitemap reads sitemaps in every form that search engines take: XML, an index of others, text, RSS and Atom,
// compressed or not.
package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"sightline/internal/crawl/address"
)

// What search engines take from one sitemap.
const (
	MaxURLs = 50_000
	MaxSize = 50 << 20 // bytes, uncompressed

	maxProblems = 100
)

// A Kind is a form of sitemap.
type Kind string

// The kinds of sitemaps.
const (
	URLs  Kind = "urlset"
	Index Kind = "index" // lists other sitemaps
	Text  Kind = "text"
	RSS   Kind = "rss"
	Atom  Kind = "atom"
)

// A File is what a sitemap says.
type File struct {
	Kind     Kind
	Entries  []Entry
	Problems []Problem // what is wrong with it, at most 100
	TooLarge bool      // it has more addresses or bytes than search engines read; Entries are the first
	Err      error     // why it could not be read to its end; nil if it was
	limits   limits
}

// limits are how much is read of a file.
type limits struct {
	urls, tokens int
	size         int64
}

// An Entry is a page that a sitemap lists, or another sitemap.
type Entry struct {
	URL      address.Address
	Text     string // as written
	Modified string // as written; may be empty
}

// A Problem is an address that cannot be used.
type Problem struct {
	Line int
	Text string // what is wrong, in words
}

// The reasons for which a file is not a sitemap.
var (
	WrongRoot = errors.New("the file is XML, but not a sitemap")
	Empty     = errors.New("the file is empty")
	NotText   = errors.New("the file is neither XML nor a list of addresses")
)

// Read reads a sitemap. Whatever it is, the result holds what could be read and Err says why there was no more.
func Read(from io.Reader) *File {
	return read(from, limits{urls: MaxURLs, tokens: maxCount, size: MaxSize})
}

func read(from io.Reader, limits limits) *File {
	file := &File{limits: limits}
	in := &bounded{from: from, left: limits.size, file: file}
	text, err := unzipped(in, file)
	if err != nil {
		file.Err = err
		return file
	}
	start, err := text.Peek(512)
	start = bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(start) == 0 && err != nil && err != io.EOF:
		file.Err = err
	case len(start) == 0:
		file.Err = Empty
	case start[0] == '<' || utf16(start):
		file.Err = file.readXML(text)
	default:
		file.Err = file.readText(text)
	}
	if file.TooLarge { // the end was cut off, and what follows from that is no fault of its own
		file.Err = nil
	}
	return file
}

// utf16 says that a file starts with the byte order mark of UTF-16, which only XML may have.
func utf16(start []byte) bool {
	return len(start) > 1 && (start[0] == 0xff && start[1] == 0xfe || start[0] == 0xfe && start[1] == 0xff)
}

// unzipped decompresses a file that is compressed, whatever its name is.
func unzipped(in io.Reader, file *File) (*bufio.Reader, error) {
	raw := bufio.NewReader(in)
	if magic, _ := raw.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return raw, nil
	}
	zipped, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("the file is compressed, but broken: %w", err)
	}
	return bufio.NewReader(&bounded{from: zipped, left: file.limits.size, file: file}), nil
}

// bounded cuts a file at its greatest size and notes that it did.
type bounded struct {
	from io.Reader
	left int64
	file *File
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n += int(b.left)
		b.file.TooLarge = true
		return n, io.EOF
	}
	return n, err
}

// add takes an address in; false says that the file is full.
func (f *File) add(line int, text, modified string) bool {
	if len(f.Entries) == f.limits.urls {
		f.TooLarge = true
		return false
	}
	to, err := address.Parse(text)
	switch {
	case text == "":
		f.problem(line, "an entry has no address")
	case err != nil:
		f.problem(line, fmt.Sprintf("%.80q: %v", text, err))
	default:
		f.Entries = append(f.Entries, Entry{URL: to, Text: text, Modified: modified})
	}
	return true
}

func (f *File) problem(line int, text string) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, Problem{line, text})
	}
}

const maxLine = 16 << 10

// readText reads one address per line.
func (f *File) readText(from io.Reader) error {
	f.Kind = Text
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	first := true
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		if first && !bytes.HasPrefix(bytes.ToLower(line), []byte("http")) {
			return NotText
		}
		first = false
		if !f.add(n, string(line), "") {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("a line is too long, or could not be read: %w", err)
	}
	return nil
}
