package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"

	"sightline/internal/fault"
)

// batchSize bounds how many writes share one commit.
const batchSize = 128

// A write is one change that waits for the writer.
type write struct {
	ctx  context.Context
	do   func(*sql.Tx) error
	done chan error
}

// change runs do in a transaction and returns when it is committed and synced. Changes that arrive together share
// a commit, each in its own savepoint: one that fails leaves no trace and does not disturb the others.
func (db *DB) change(ctx context.Context, do func(*sql.Tx) error) error {
	w := &write{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case db.writes <- w:
		return <-w.done
	case <-db.done:
		return fmt.Errorf("the catalog is closed: %w", fault.Unavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writer commits changes until Close sends it a nil.
func (db *DB) writer() {
	defer close(db.done)
	for first := range db.writes {
		if first == nil {
			return
		}
		batch, last := []*write{first}, false
		for more := true; more && !last && len(batch) < batchSize; {
			select {
			case next := <-db.writes:
				if last = next == nil; !last {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		db.commit(batch)
		if watch := db.batch.Load(); watch != nil {
			(*watch)(len(batch))
		}
		if last {
			return
		}
	}
}

// WatchBatches calls watch from now on with the number of writes that shared a commit. It must be quick.
func (db *DB) WatchBatches(watch func(writes int)) {
	db.batch.Store(&watch)
}

// commit runs a batch in one transaction and answers every write in it.
func (db *DB) commit(batch []*write) {
	results := make([]error, len(batch))
	err := failure(db.run(batch, results))
	if errors.Is(err, fault.Unsynced) {
		db.unsynced.Store(true)
	}
	for i, w := range batch {
		if err != nil {
			w.done <- err
		} else {
			w.done <- failure(results[i])
		}
	}
}

// run is the transaction of a batch. After a sync that failed there is none: the system may have dropped what it could not
// write, and later syncs would succeed all the same.
func (db *DB) run(batch []*write, results []error) error {
	if db.unsynced.Load() {
		return fault.Unsynced
	}
	tx, err := db.write.Begin()
	if err != nil {
		return err
	}
	for i, w := range batch {
		var broken error
		if results[i], broken = step(tx, w); broken != nil {
			return errors.Join(broken, tx.Rollback())
		}
	}
	return tx.Commit()
}

// step runs one write inside a savepoint. broken says that the whole transaction is of no use any more.
func step(tx *sql.Tx, w *write) (result, broken error) {
	if err := w.ctx.Err(); err != nil {
		return err, nil
	}
	if _, err := tx.Exec(`SAVEPOINT step`); err != nil {
		return nil, err
	}
	if result = guarded(w.do, tx); result != nil {
		if _, err := tx.Exec(`ROLLBACK TO step`); err != nil || errors.Is(failure(result), fault.Unsynced) {
			return nil, errors.Join(result, err)
		}
	}
	_, err := tx.Exec(`RELEASE step`)
	return result, err
}

// guarded runs a change. A panic in it fails that change and not the program.
func guarded(do func(*sql.Tx) error, tx *sql.Tx) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", cause, debug.Stack())
		}
	}()
	return do(tx)
}

// settle moves what a program that was killed left in the log into the file, and syncs that. A sync of the log may have failed
// then: what is in it can be read, but need not be on the disk, and new writes would be lost together with it. A disk that
// is full can still be read.
func (db *DB) settle(ctx context.Context) error {
	_, err := db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	if err = failure(err); errors.Is(err, fault.Full) {
		return nil
	}
	return err
}

// Close waits for the changes under way and closes the file.
func (db *DB) Close() error {
	select {
	case db.writes <- nil:
		<-db.done
	case <-db.done:
	}
	return errors.Join(db.read.Close(), db.write.Close())
}
