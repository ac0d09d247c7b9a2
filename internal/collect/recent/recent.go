// Package recent is a bounded memory of what was used lately.
package recent

import "sync"

// A Cache keeps at least the last size values that were put or found, and at most twice as many. The zero Cache keeps nothing;
// use New. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	size       int
	young, old map[K]V
}

// New makes an empty cache.
func New[K comparable, V any](size int) *Cache[K, V] {
	return &Cache[K, V]{size: size, young: map[K]V{}}
}

// Find returns the value of a key.
func (c *Cache[K, V]) Find(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(key)
}

// FindOr returns the value of a key, which fresh makes if there is none.
func (c *Cache[K, V]) FindOr(key K, fresh func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value, found := c.find(key); found {
		return value
	}
	value := fresh()
	c.put(key, value)
	return value
}

// Put remembers a value.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, value)
}

// find looks among the young first. What is found among the old is young again.
func (c *Cache[K, V]) find(key K) (V, bool) {
	if value, found := c.young[key]; found {
		return value, true
	}
	value, found := c.old[key]
	if found {
		c.put(key, value)
	}
	return value, found
}

// put forgets the old when there are enough young ones.
func (c *Cache[K, V]) put(key K, value V) {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[K]V)
	}
	c.young[key] = value
}
