package collect

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/netip"
	"sync"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
)

// A salt is the secret of one UTC day. It turns what is known of a visitor into a number that leads back to nobody once the
// salt is gone.
type salt struct{ hashers sync.Pool }

// A hasher is what hashing needs for a moment.
type hasher struct {
	hash.Hash
	known []byte
	sum   [sha256.Size]byte
}

func newSalt(secret []byte) *salt {
	s := &salt{}
	s.hashers.New = func() any { return &hasher{Hash: hmac.New(sha256.New, secret)} }
	return s
}

// visitor is the number of a visitor of a website.
func (s *salt) visitor(website int64, address netip.Addr, agent string) uint64 {
	h := s.hashers.Get().(*hasher)
	defer s.hashers.Put(h)
	whole := address.As16()
	h.known = binary.BigEndian.AppendUint64(h.known[:0], uint64(website))
	h.known = append(append(h.known, whole[:]...), agent...)
	h.Reset()
	h.Write(h.known)
	number := binary.BigEndian.Uint64(h.Sum(h.sum[:0]))
	clear(h.known)
	return number
}

// saltSize is the length of a salt, in bytes.
const saltSize = 32

const day = 24 * time.Hour

// salts are those that are in use, by day. A visit that began before midnight goes on under its own salt, so the salt of
// yesterday is still needed; that of tomorrow is made ahead, so that midnight waits for no catalog.
type salts struct {
	store analytics.Salts
	now   func() time.Time

	mu     sync.Mutex
	days   map[int64]*salt
	erased int64     // the day before which all were erased
	failed error     // why the last load failed
	tried  time.Time // when that was
}

func newSalts(store analytics.Salts, now func() time.Time) *salts {
	return &salts{store: store, now: now, days: map[int64]*salt{}}
}

// today is the salt of this day, and that of yesterday if there is one.
func (s *salts) today(ctx context.Context) (today, yesterday *salt, err error) {
	number := dayOf(s.now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.days[number] == nil {
		if err := s.loadInTime(ctx, number); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", fault.Unavailable, err)
		}
	}
	return s.days[number], s.days[number-1], nil
}

// loadInTime is load for a hit: it does not end with the request, as others wait too, and a catalog that has just failed is
// left alone for a moment.
func (s *salts) loadInTime(ctx context.Context, number int64) error {
	if s.failed != nil && s.now().Sub(s.tried).Abs() < trusted {
		return s.failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()
	s.failed = s.load(ctx, number)
	s.tried = s.now()
	return s.failed
}

// keep makes the salt of tomorrow, and erases those that are needed no more.
func (s *salts) keep(ctx context.Context) error {
	number := dayOf(s.now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.days[number] == nil || s.days[number+1] == nil {
		if err := s.load(ctx, number); err != nil {
			return err
		}
	}
	if s.erased != number {
		if err := s.store.EraseSalts(ctx, dayTime(number-1)); err != nil {
			return fmt.Errorf("erase salts: %w", err)
		}
		s.erased = number
	}
	for known := range s.days {
		if known < number-1 || known > number+1 {
			delete(s.days, known)
		}
	}
	return nil
}

// load reads the salts of a day, of the one before and of the one after, and makes those that are missing; yesterday is over.
func (s *salts) load(ctx context.Context, number int64) error {
	for _, wanted := range []int64{number - 1, number, number + 1} {
		if s.days[wanted] != nil {
			continue
		}
		var fresh []byte
		if wanted >= number {
			fresh = make([]byte, saltSize)
			rand.Read(fresh)
		}
		secret, err := s.store.Salt(ctx, dayTime(wanted), fresh)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the salt of a day: %w", err)
		}
		s.days[wanted] = newSalt(secret)
	}
	return nil
}

// dayOf is the number of the UTC day of a time, dayTime its beginning.
func dayOf(at time.Time) int64 { return at.Unix() / int64(day/time.Second) }

func dayTime(number int64) time.Time { return time.Unix(number*int64(day/time.Second), 0).UTC() }
