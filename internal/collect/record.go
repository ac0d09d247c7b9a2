package collect

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"sightline/internal/analytics"
)

// format is the first byte of a record; another layout gets another number.
const format = 1

// encode appends events and drops as one record of the spool.
func encode(to []byte, events []analytics.Event, drops []analytics.Drop) []byte {
	to = append(to, format)
	to = binary.AppendUvarint(to, uint64(len(events)))
	for i := range events {
		to = appendEvent(to, &events[i])
	}
	to = binary.AppendUvarint(to, uint64(len(drops)))
	for _, d := range drops {
		to = binary.AppendVarint(to, d.Website)
		to = binary.AppendVarint(to, d.At.UnixMilli())
		to = appendTexts(to, d.Reason, d.Page, d.Agent)
	}
	return to
}

func appendEvent(to []byte, e *analytics.Event) []byte {
	to = binary.AppendVarint(to, e.Website)
	to = binary.AppendVarint(to, e.At.UnixMilli())
	to = binary.LittleEndian.AppendUint64(to, e.Visitor)
	to = binary.LittleEndian.AppendUint64(to, e.Visit)
	to = append(to, byte(e.Kind), e.Depth)
	to = binary.LittleEndian.AppendUint64(to, math.Float64bits(e.Value))
	to = binary.AppendVarint(to, e.Engagement.Milliseconds())
	for _, text := range texts(e) {
		to = appendTexts(to, *text)
	}
	to = binary.AppendUvarint(to, uint64(len(e.Props)))
	for name, value := range e.Props {
		to = appendTexts(to, name, value)
	}
	return to
}

// texts are the fields of an event that hold text, in the order of the record.
func texts(e *analytics.Event) [22]*string {
	return [...]*string{&e.Name, &e.Page, &e.Hostname, &e.Unit,
		&e.Referrer, &e.Source, &e.Channel, &e.UTMSource, &e.UTMMedium, &e.UTMCampaign, &e.UTMContent, &e.UTMTerm,
		&e.Country, &e.Region, &e.City,
		&e.Language, &e.Browser, &e.BrowserVersion, &e.OS, &e.OSVersion, &e.Device, &e.Screen}
}

func appendTexts(to []byte, texts ...string) []byte {
	for _, text := range texts {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	return to
}

var errRecord = errors.New("a record of the spool cannot be read")

// decode adds the events and drops of a record to a batch. A record that cannot be read leaves the batch as it was.
func decode(record []byte, batch *analytics.Batch) error {
	d := decoder{record: record, whole: string(record)}
	if d.byte() != format {
		return errRecord
	}
	events, drops := batch.Events, batch.Drops
	for range d.count() {
		if d.failed {
			break
		}
		events = append(events, d.event())
	}
	for range d.count() {
		if d.failed {
			break
		}
		drops = append(drops, analytics.Drop{Website: d.varint(), At: d.time(), Reason: d.text(), Page: d.text(), Agent: d.text()})
	}
	if d.failed || d.at < len(record) {
		return errRecord
	}
	batch.Events, batch.Drops = events, drops
	return nil
}

// A decoder reads a record from front to back. After a failure it reads zeros. All texts share the memory of one.
type decoder struct {
	record []byte
	whole  string // the same
	at     int
	failed bool
}

func (d *decoder) event() analytics.Event {
	e := analytics.Event{Website: d.varint(), At: d.time(), Visitor: d.uint64(), Visit: d.uint64(), Kind: analytics.Kind(d.byte()), Depth: d.byte(),
		Value: math.Float64frombits(d.uint64()), Engagement: time.Duration(d.varint()) * time.Millisecond}
	for _, text := range texts(&e) {
		*text = d.text()
	}
	if props := d.count(); props > 0 {
		e.Props = make(map[string]string, min(props, analytics.MaxProps))
		for range props {
			name := d.text()
			e.Props[name] = d.text()
		}
	}
	return e
}

// skip passes over the next bytes and returns where they begin.
func (d *decoder) skip(n int) (from int) {
	if d.failed || n < 0 || n > len(d.record)-d.at {
		d.failed = true
		return 0
	}
	from = d.at
	d.at += n
	return from
}

func (d *decoder) byte() byte {
	if from := d.skip(1); !d.failed {
		return d.record[from]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if from := d.skip(8); !d.failed {
		return binary.LittleEndian.Uint64(d.record[from:])
	}
	return 0
}

func (d *decoder) varint() int64 {
	value, n := binary.Varint(d.record[d.at:])
	if n <= 0 {
		d.failed = true
	}
	if d.skip(n); d.failed {
		return 0
	}
	return value
}

// count is a number of things that follow, of at least a byte each.
func (d *decoder) count() int {
	value, n := binary.Uvarint(d.record[d.at:])
	if n <= 0 {
		d.failed = true
	}
	if d.skip(n); d.failed || value > uint64(len(d.record)-d.at) {
		d.failed = true
		return 0
	}
	return int(value)
}

func (d *decoder) text() string {
	n := d.count()
	from := d.skip(n)
	if d.failed {
		return ""
	}
	return d.whole[from : from+n]
}

func (d *decoder) time() time.Time { return time.UnixMilli(d.varint()).UTC() }
