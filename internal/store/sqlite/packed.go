package sqlite

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// packed takes apart the values of a row that concat_ws joined with a control character, which no stored text contains.
// None of them may be NULL.
type packed struct {
	rest string
	over bool // nothing is left
	err  error
}

func (p *packed) text() string {
	if p.over {
		p.err = errors.New("a packed row has too few values")
		return ""
	}
	value, rest, more := strings.Cut(p.rest, "\x1f")
	p.rest, p.over = rest, !more
	return value
}

func (p *packed) number() int64 {
	n, err := strconv.ParseInt(p.text(), 10, 64)
	if err != nil && p.err == nil {
		p.err = err
	}
	return n
}

// instant is a time that is stored as seconds.
func (p *packed) instant() time.Time { return time.Unix(p.number(), 0).UTC() }

// end says what went wrong, if anything did.
func (p *packed) end() error {
	if p.err == nil && !p.over {
		return errors.New("a packed row has too many values")
	}
	return p.err
}
