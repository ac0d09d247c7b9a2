package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// pileBuffer is how much of a pile is held in memory, in bytes. A pile that stays below needs no file.
const pileBuffer = 8 << 20

// A pile keeps pieces of bytes in the order in which they come: the newest in memory, the others in a file of the system's folder for
// such.
type pile struct {
	mu     sync.Mutex
	recent []byte   // what is not in the file yet
	filed  int64    // how much is
	file   *os.File // nil: none so far
	name   string   // what Close removes; empty: nothing
}

// A piece is where something lies in a pile.
type piece struct {
	at   int64
	size int32
}

// add puts something on the pile.
func (p *pile) add(text []byte) (piece, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.recent) > 0 && len(p.recent)+len(text) > pileBuffer {
		if err := p.put(); err != nil {
			return piece{}, fmt.Errorf("keep what was found in a file: %w", err)
		}
	}
	at := piece{p.filed + int64(len(p.recent)), int32(len(text))}
	p.recent = append(p.recent, text...)
	return at, nil
}

// put moves what is in memory to the file. The file has no name where the system allows that, so it goes with the program.
func (p *pile) put() (err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp("", "sightline-audit-"); err != nil {
			return err
		}
		if os.Remove(p.file.Name()) != nil {
			p.name = p.file.Name()
		}
	}
	if _, err := p.file.WriteAt(p.recent, p.filed); err != nil {
		return err
	}
	p.filed += int64(len(p.recent))
	p.recent = p.recent[:0]
	return nil
}

// read is a piece again.
func (p *pile) read(at piece) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := make([]byte, at.size)
	if at.at >= p.filed {
		copy(text, p.recent[at.at-p.filed:])
		return text, nil
	}
	if _, err := p.file.ReadAt(text, at.at); err != nil {
		return nil, fmt.Errorf("read what was found: %w", err)
	}
	return text, nil
}

// close gives the file back.
func (p *pile) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	if p.name != "" {
		err = errors.Join(err, os.Remove(p.name))
	}
	return err
}
