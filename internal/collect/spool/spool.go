// Package spool keeps records on disk, in order, from when they are accepted until they are stored elsewhere. What Append
// has accepted survives a crash and a power cut.
package spool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/fault"
)

// Limits bounds a spool.
type Limits struct {
	Bytes   int64 // of records that are not discarded yet
	Waiting int   // appends that wait for the disk
}

// A Spool is an open file of records. Records that are appended together share a commit and lie in one row.
type Spool struct {
	limits  Limits
	db      *sql.DB
	lazy    *sql.DB // the same file, for changes that may be lost
	insert  *sql.Stmt
	appends chan *entry
	done    chan struct{}  // closed when the writer has ended
	running sync.WaitGroup // the writer and the keeper
	writing sync.Mutex     // held by whoever changes the file
	last    int64          // the newest position; the writer's alone
	logged  int64          // about how many bytes went to the log since it was emptied
	full    chan struct{}  // tells the keeper that the log is long
	bytes   atomic.Int64   // of all rows
	failed  atomic.Pointer[error]
}

// connections is how many connections there are: one writes, one reads, one empties the log.
const connections = 3

const schema = `
	CREATE TABLE IF NOT EXISTS groups (
		position INTEGER PRIMARY KEY,
		sum      INTEGER NOT NULL,
		body     BLOB    NOT NULL
	) STRICT;
	CREATE TABLE IF NOT EXISTS damaged (
		position INTEGER PRIMARY KEY,
		sum      INTEGER NOT NULL,
		body     BLOB    NOT NULL
	) STRICT;`

// Open opens the spool in a file, or makes one. Its positions go on after the newest in the file and after another one, which
// is that of the store that reads from it. A damaged file is put aside and what can be read of it is taken over; damage then
// says so.
func Open(path string, after int64, limits Limits) (s *Spool, damage error, err error) {
	db, damage, err := openSound(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open the spool %s: %w", path, err)
	}
	s = &Spool{limits: limits, db: db, appends: make(chan *entry, limits.Waiting), done: make(chan struct{}), full: make(chan struct{}, 1), last: after}
	var newest, bytes int64
	err = db.QueryRow(`SELECT coalesce(max(position), 0), coalesce(sum(length(body)), 0) FROM groups`).Scan(&newest, &bytes)
	if err == nil {
		s.insert, err = db.Prepare(`INSERT INTO groups (position, sum, body) VALUES (?, ?, ?)`)
	}
	if err == nil {
		s.lazy, err = pool(path, "NORMAL")
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the spool %s: %w", path, err), db.Close())
	}
	s.last = max(newest, after)
	s.bytes.Store(bytes)
	s.running.Go(s.write)
	s.running.Go(s.keep)
	return s, damage, nil
}

// connect opens a file whose commits are synced before they count.
func connect(path string) (*sql.DB, error) {
	db, err := pool(path, "FULL")
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// pool is a set of connections to a file. FULL syncs every commit; NORMAL leaves that to the next one that does.
func pool(path, synchronous string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := (&url.URL{Scheme: "file", Path: path}).String() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(" + synchronous + ")" +
		"&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(16777216)&_pragma=trusted_schema(0)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Bytes is how much the spool holds.
func (s *Spool) Bytes() int64 { return s.bytes.Load() }

// Check is the failure of the last commit, nil if it succeeded.
func (s *Spool) Check() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close waits for the appends under way and closes the file.
func (s *Spool) Close() error {
	select {
	case s.appends <- nil:
	case <-s.done:
	}
	s.running.Wait()
	return errors.Join(s.lazy.Close(), s.db.Close())
}

// A Group is what one commit appended.
type Group struct {
	Position int64
	Records  [][]byte
}

// Read returns groups after a position, oldest first: at least one if there is any, and no more once they are larger than most bytes.
// A group that is damaged is put aside and reported as damage; the others are returned all the same.
func (s *Spool) Read(ctx context.Context, after int64, most int) (groups []Group, damage error, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT position, sum, body FROM groups WHERE position > ? ORDER BY position`, after)
	if err != nil {
		return nil, nil, kind(err)
	}
	defer rows.Close()
	var bad []int64
	for size := 0; size < most && rows.Next(); {
		var group Group
		var sum int64
		var body []byte
		if err := rows.Scan(&group.Position, &sum, &body); err != nil {
			return nil, nil, kind(err)
		}
		size += len(body)
		records, broken := split(body, sum)
		if broken != nil {
			bad = append(bad, group.Position)
			damage = errors.Join(damage, fmt.Errorf("group %d of %d bytes in the spool: %w", group.Position, len(body), broken))
			continue
		}
		group.Records = records
		groups = append(groups, group)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, nil, kind(err)
	}
	for _, position := range bad {
		err = errors.Join(err, s.PutAside(ctx, position))
	}
	return groups, damage, err
}

// PutAside moves a group that cannot be understood to where nobody looks for groups.
func (s *Spool) PutAside(ctx context.Context, position int64) error {
	s.writing.Lock()
	_, err := s.db.ExecContext(ctx, `INSERT OR REPLACE INTO damaged SELECT * FROM groups WHERE position = ?`, position)
	s.writing.Unlock()
	if err != nil {
		return kind(err)
	}
	return s.remove(ctx, `DELETE FROM groups WHERE position = ? RETURNING length(body)`, position)
}

// Discard forgets the groups up to and with a position. After a power cut some may be there again.
func (s *Spool) Discard(ctx context.Context, position int64) error {
	return s.remove(ctx, `DELETE FROM groups WHERE position <= ? RETURNING length(body)`, position)
}

func (s *Spool) remove(ctx context.Context, query string, position int64) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	rows, err := s.lazy.QueryContext(ctx, query, position)
	if err != nil {
		return kind(err)
	}
	defer rows.Close()
	var removed int64
	for rows.Next() {
		var size int64
		if err := rows.Scan(&size); err != nil {
			return kind(err)
		}
		removed += size
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return kind(err)
	}
	s.bytes.Add(-removed)
	s.log(0)
	return nil
}

// kind gives a failure of the driver its kind.
func kind(err error) error {
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return err
	}
	if cause.Code()&0xff == sqlite3.SQLITE_FULL {
		return fmt.Errorf("the spool: %w: %w", fault.Full, err)
	}
	return fmt.Errorf("the spool: %w: %w", fault.Unavailable, err)
}
