package schema

import "sync"

// Cache caches plans, with bounded memory. It is safe for concurrent use.
type Cache struct {
	opts  Options
	limit int // bytes of schemas in one generation

	mu     sync.RWMutex
	recent map[cacheKey]cached
	older  map[cacheKey]cached // the previous generation
	size   int                 // bytes of schemas in recent
}

type cacheKey struct {
	schema  string
	dialect Dialect
}

type cached struct {
	res *Result
	err error
}

// cacheBytes is the approximate size of a cache: 10,000 typical tools in each of twelve
// dialects.
const cacheBytes = 48 << 20

// NewCache returns a cache of plans made with the same options; nil means the defaults.
func NewCache(opts *Options) *Cache {
	c := &Cache{limit: cacheBytes / 2, recent: map[cacheKey]cached{}}
	if opts != nil {
		c.opts = *opts
	}
	return c
}

// Plan is like the function Plan, but cached. The result is shared and read-only.
func (c *Cache) Plan(raw []byte, d Dialect) (*Result, error) {
	c.mu.RLock()
	got, ok := c.recent[cacheKey{string(raw), d}]
	c.mu.RUnlock()
	if ok {
		return got.res, got.err
	}
	return c.miss(raw, d)
}

func (c *Cache) miss(raw []byte, d Dialect) (*Result, error) {
	key := cacheKey{string(raw), d}
	c.mu.RLock()
	got, ok := c.older[key]
	c.mu.RUnlock()
	if !ok {
		got.res, got.err = Plan(raw, d, &c.opts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if again, ok := c.recent[key]; ok {
		return again.res, again.err // another goroutine was faster
	}
	c.size += len(raw) + 200
	if c.size > c.limit {
		c.older = c.recent
		c.recent = map[cacheKey]cached{}
		c.size = len(raw) + 200
	}
	c.recent[key] = got
	return got.res, got.err
}
