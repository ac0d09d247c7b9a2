package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sightline/internal/fault"
)

// A Gate lets callers in by their secrets and remembers when each key was last used. The times are kept
// in memory and written by Flush, so that a read never costs a write.
type Gate struct {
	keys Keys
	now  func() time.Time

	mu    sync.Mutex
	used  map[int64]time.Time
	known map[Hash]knownKey
}

// A knownKey was found in the store a moment ago.
type knownKey struct {
	key   Key
	found time.Time
}

// How long a key is known before the store is asked again, so that a revocation acts within a second on every server; and
// how many are known at most.
const (
	knownTime = 500 * time.Millisecond
	maxKnown  = 10_000
)

// NewGate is a gate to the keys of a store.
func NewGate(keys Keys, now func() time.Time) *Gate {
	return &Gate{keys: keys, now: now, used: map[int64]time.Time{}, known: map[Hash]knownKey{}}
}

// ErrRefused is Enter's answer to a secret that is mistyped, unknown, revoked or expired.
var ErrRefused = errors.New("the API key is not valid")

// Enter finds the key that a secret belongs to.
func (g *Gate) Enter(ctx context.Context, secret string) (Key, error) {
	if Mistyped(secret) {
		return Key{}, ErrRefused
	}
	key, err := g.find(ctx, HashSecret(secret))
	if errors.Is(err, fault.NotFound) {
		return Key{}, ErrRefused
	}
	if err != nil {
		return Key{}, fmt.Errorf("look up API key: %w", err)
	}
	now := g.now()
	if !key.Valid(now) {
		return Key{}, ErrRefused
	}
	g.mu.Lock()
	g.used[key.ID] = now.UTC().Truncate(time.Second)
	g.mu.Unlock()
	return key, nil
}

// find looks a key up, in memory if it was found a moment ago.
func (g *Gate) find(ctx context.Context, hash Hash) (Key, error) {
	g.mu.Lock()
	recent, found := g.known[hash]
	g.mu.Unlock()
	if found && time.Since(recent.found) < knownTime {
		return recent.key, nil
	}
	now := time.Now()
	key, err := g.keys.KeyByHash(ctx, hash)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		delete(g.known, hash)
		return Key{}, err
	}
	if len(g.known) >= maxKnown {
		clear(g.known)
	}
	g.known[hash] = knownKey{key, now}
	return key, nil
}

// Flush writes the times of use gathered since the last Flush. What cannot be written is kept for the next one.
func (g *Gate) Flush(ctx context.Context) error {
	g.mu.Lock()
	used := g.used
	g.used = map[int64]time.Time{}
	g.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := g.keys.TouchKeys(ctx, used)
	if err == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, at := range used {
		if at.After(g.used[id]) {
			g.used[id] = at
		}
	}
	return fmt.Errorf("note when keys were last used: %w", err)
}
