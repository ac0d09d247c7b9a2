package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"sightline/internal/fault"
)

// groupBytes is from what size on a group takes no more records.
const groupBytes = 1 << 20

// An entry is an append that waits for the writer.
type entry struct {
	record []byte
	done   chan error
}

// entries are reused: an append costs no memory.
var entries = sync.Pool{New: func() any { return &entry{done: make(chan error, 1)} }}

// Append adds a record and returns when it is synced to the disk; the record may then be used otherwise. Under too many appends, and when the
// spool is full, it fails at once as unavailable.
func (s *Spool) Append(ctx context.Context, record []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.bytes.Load() >= s.limits.Bytes {
		return fmt.Errorf("the spool is full: %w", fault.Unavailable)
	}
	select {
	case <-s.done:
		return errClosed
	default:
	}
	e := entries.Get().(*entry)
	e.record = record
	select {
	case s.appends <- e:
	default:
		entries.Put(e)
		return fmt.Errorf("the spool: %w", fault.Busy)
	}
	select {
	case err := <-e.done:
		entries.Put(e)
		return err
	case <-s.done:
		return lastAnswer(e)
	}
}

var errClosed = fmt.Errorf("the spool is closed: %w", fault.Unavailable)

// lastAnswer is the answer to an entry after the writer has ended: it may have been in the last group.
func lastAnswer(e *entry) error {
	select {
	case err := <-e.done:
		return err
	default:
		return errClosed
	}
}

// write commits groups until Close sends a nil.
func (s *Spool) write() {
	defer close(s.done)
	var body []byte
	var group []*entry
	for first := range s.appends {
		if first == nil {
			return
		}
		last := false
		group, body = append(group[:0], first), appendRecord(body[:0], first.record)
		for more := true; more && !last && len(body) < groupBytes; {
			select {
			case next := <-s.appends:
				if last = next == nil; !last {
					group, body = append(group, next), appendRecord(body, next.record)
				}
			default:
				more = false
			}
		}
		err := s.commit(body)
		for _, e := range group {
			e.done <- err
		}
		if last {
			return
		}
		if cap(body) > 4*groupBytes {
			body = nil
		}
	}
}

// commit stores a group. After a failure the next one is stored in the same place: SQLite writes over what it could not sync, so
// that nothing that was lost lies below something that is acknowledged.
func (s *Spool) commit(body []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.insert.Exec(s.last+1, sum(body), body); err != nil {
		err = kind(err)
		s.failed.Store(&err)
		return err
	}
	s.last++
	s.bytes.Add(int64(len(body)))
	s.failed.Store(nil)
	s.log(len(body))
	return nil
}

// prefix is the length of the length before a record.
const prefix = 4

// appendRecord adds a record with its length before it.
func appendRecord(body, record []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(body, uint32(len(record))), record...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(body []byte) int64 { return int64(crc32.Checksum(body, castagnoli)) }

var errDamaged = errors.New("it is damaged")

// split takes the body of a group apart.
func split(body []byte, want int64) ([][]byte, error) {
	if sum(body) != want {
		return nil, errDamaged
	}
	var records [][]byte
	for len(body) > 0 {
		if len(body) < prefix {
			return nil, errDamaged
		}
		length := int(binary.LittleEndian.Uint32(body))
		if length > len(body)-prefix {
			return nil, errDamaged
		}
		records = append(records, body[prefix:prefix+length:prefix+length])
		body = body[prefix+length:]
	}
	return records, nil
}
