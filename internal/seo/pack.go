package seo

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// packFormat is the first byte of packed facts. It changes with walk: facts of another format are not read.
	packFormat = 1
	// maxPacked is the size of unpacked facts beyond which they are not what Pack made, in bytes.
	maxPacked = 16 << 20
	// maxItems is the same for the length of a list.
	maxItems = 10_000
)

// Pack makes the facts of a page small enough to keep: a few kilobytes for most.
func (p *Page) Pack() ([]byte, error) {
	plain := plains.Get().(*bytes.Buffer)
	defer keepPlain(plain)
	k := packer{out: plain.AvailableBuffer()}
	p.walk(&k)
	plain.Write(k.out) // so that the buffer has room for it the next time
	out := bytes.NewBuffer(make([]byte, 0, len(k.out)/3))
	out.WriteByte(packFormat)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(out)
	if _, err := w.Write(k.out); err != nil {
		return nil, fmt.Errorf("pack the facts of %s: %w", p.URL, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the facts of %s: %w", p.URL, err)
	}
	return out.Bytes(), nil
}

// UnpackPage reads what Pack made. All texts of the page share one piece of memory: whoever keeps one for long should clone it.
func UnpackPage(packed []byte) (*Page, error) {
	if len(packed) == 0 || packed[0] != packFormat {
		return nil, errors.New("unpack the facts of a page: not of this version of the program")
	}
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed[1:]), nil); err != nil {
		return nil, fmt.Errorf("unpack the facts of a page: %w", err)
	}
	plain := plains.Get().(*bytes.Buffer)
	defer keepPlain(plain)
	if _, err := plain.ReadFrom(io.LimitReader(r, maxPacked)); err != nil {
		return nil, fmt.Errorf("unpack the facts of a page: %w", err)
	}
	k := packer{in: plain.String(), reading: true}
	p := new(Page)
	if p.walk(&k); k.bad || k.in != "" {
		return nil, errors.New("unpack the facts of a page: they are damaged")
	}
	return p, nil
}

// keptPlain is the size of a buffer beyond which it is given back to the system, in bytes.
const keptPlain = 1 << 20

func keepPlain(b *bytes.Buffer) {
	if b.Reset(); b.Cap() <= keptPlain {
		plains.Put(b)
	}
}

// These are reused, since each holds large tables or the facts of a page.
var (
	plains    = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	deflaters = sync.Pool{New: func() any {
		w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
		if err != nil {
			panic(err) // only a wrong level fails
		}
		return w
	}}
	inflaters = sync.Pool{New: func() any { return flate.NewReader(strings.NewReader("")) }}
)

// walk visits every fact in a fixed order, to write it or to read it.
func (p *Page) walk(k *packer) {
	k.texts(&p.URL, &p.FoundFrom, &p.Listed, &p.End, (*string)(&p.Failure), &p.Reason, &p.MediaType, &p.Base, &p.Root, &p.Lang)
	k.numbers(&p.Depth, &p.Status, &p.Size, &p.Words)
	k.flags(&p.Truncated, &p.IsHTML, &p.LinksCut, &p.ImagesCut, &p.HasData)
	k.moment(&p.FetchedAt)
	k.number((*int64)(&p.FirstByte))
	k.hash(&p.TextHash)
	list(k, &p.Hops, func(h *Hop) { k.texts(&h.URL, &h.Location); k.numbers(&h.Status) })
	list(k, &p.Header, func(line *string) { k.texts(line) })
	for _, elements := range []*[]Element{&p.Titles, &p.Descriptions, &p.Viewports, &p.Headings} {
		list(k, elements, func(e *Element) { k.texts(&e.Text, &e.Raw); k.numbers(&e.Length) })
	}
	list(k, &p.Canonicals, func(c *Canonical) { k.texts(&c.URL, &c.Raw); k.flags(&c.Internal, &c.Header) })
	list(k, &p.Robots, func(r *RobotsRule) { k.texts(&r.Agent, &r.Name, &r.Raw); k.moment(&r.Until) })
	list(k, &p.Links, func(l *Link) { k.texts(&l.URL, &l.Rel, &l.Text, &l.Raw); k.flags(&l.Internal) })
	list(k, &p.Images, func(i *Image) { k.texts(&i.URL, &i.Raw) })
	for _, s := range []*Sample{&p.NoAlt, &p.Insecure, &p.BadData} {
		k.numbers(&s.Count)
		list(k, &s.First, func(raw *string) { k.texts(raw) })
	}
}

// A packer writes facts one after the other, or reads them in the same order.
type packer struct {
	out     []byte
	in      string
	reading bool
	bad     bool // what is read is not what was written
}

func (k *packer) number(n *int64) {
	if !k.reading {
		k.out = binary.AppendVarint(k.out, *n)
		return
	}
	head := []byte(k.in[:min(len(k.in), binary.MaxVarintLen64)])
	value, size := binary.Varint(head)
	if size <= 0 {
		k.bad, k.in, value, size = true, "", 0, 0
	}
	*n, k.in = value, k.in[size:]
}

func (k *packer) numbers(all ...*int) {
	for _, n := range all {
		wide := int64(*n)
		k.number(&wide)
		*n = int(wide)
	}
}

func (k *packer) hash(h *uint64) {
	wide := int64(*h)
	k.number(&wide)
	*h = uint64(wide)
}

func (k *packer) flags(all ...*bool) {
	for _, flag := range all {
		var n int64
		if *flag {
			n = 1
		}
		k.number(&n)
		*flag = n != 0
	}
}

// moment keeps whole seconds.
func (k *packer) moment(t *time.Time) {
	seconds := t.Unix()
	if k.number(&seconds); k.reading {
		*t = time.Unix(seconds, 0).UTC()
	}
}

func (k *packer) texts(all ...*string) {
	for _, text := range all {
		n := int64(len(*text))
		k.number(&n)
		switch {
		case !k.reading:
			k.out = append(k.out, *text...)
		case n < 0 || n > int64(len(k.in)):
			k.bad, k.in = true, ""
		default:
			*text, k.in = k.in[:n], k.in[n:]
		}
	}
}

// list visits every item.
func list[T any](k *packer, items *[]T, visit func(*T)) {
	n := int64(len(*items))
	k.number(&n)
	if k.reading && n != 0 {
		if n < 0 || n > maxItems {
			k.bad, k.in = true, ""
			return
		}
		*items = make([]T, n)
	}
	for i := range *items {
		visit(&(*items)[i])
	}
}
