package memory

import (
	"context"
	"time"
)

// TakeTurn implements schedule.Turns.
func (db *DB) TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (mine bool, err error) {
	err = db.change(ctx, func() error {
		ran, before := db.turns[job]
		mine = !before || !ran.After(now.Add(-every))
		if mine {
			db.turns[job] = now
		}
		return nil
	})
	return mine, err
}
