package apikit

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxLimiters bounds how many keys are remembered; a forgotten one starts with a full burst.
const maxLimiters = 10_000

// A RateLimit bounds how many requests each key may make.
type RateLimit struct {
	perSecond int

	mu   sync.Mutex
	keys map[int64]*rate.Limiter
}

// NewRateLimit allows each key a number of requests per second, and twice that in a burst.
func NewRateLimit(perSecond int) *RateLimit {
	return &RateLimit{perSecond: perSecond, keys: map[int64]*rate.Limiter{}}
}

// take lets a request of a key pass, or refuses it. A nil limit lets everything pass.
func (l *RateLimit) take(w http.ResponseWriter, key int64, now time.Time) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	limiter := l.keys[key]
	if limiter == nil {
		if len(l.keys) >= maxLimiters {
			clear(l.keys)
		}
		limiter = rate.NewLimiter(rate.Limit(l.perSecond), 2*l.perSecond)
		l.keys[key] = limiter
	}
	l.mu.Unlock()
	allowed := limiter.AllowN(now, 1)
	tokens := max(0, limiter.TokensAt(now))
	burst := 2 * l.perSecond
	seconds := func(missing float64) string { return strconv.Itoa(int(math.Ceil(missing / float64(l.perSecond)))) }
	w.Header().Set("RateLimit-Limit", strconv.Itoa(burst))
	w.Header().Set("RateLimit-Remaining", strconv.Itoa(int(tokens)))
	w.Header().Set("RateLimit-Reset", seconds(float64(burst)-tokens))
	if !allowed {
		return &refusal{http.StatusTooManyRequests, "This API key makes too many requests. Try again in a moment.",
			map[string]string{"Retry-After": seconds(1)}}
	}
	return nil
}
