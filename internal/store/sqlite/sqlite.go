// Package sqlite keeps the catalog in one file of the data directory.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/fault"
)

// File is the name of the catalog in the data directory.
const File = "sightline.db"

// How many connections read at once. One more writes.
const readers = 8

// largeAccount is from how many records on an account is searched by index: below it, a scan of its own rows is faster.
const largeAccount = 10_000

// DB is an open catalog. It implements the store interfaces of the domain packages.
type DB struct {
	read   *sql.DB
	write  *sql.DB
	writes chan *write
	done   chan struct{} // closed when the writer has ended
	batch  atomic.Pointer[func(writes int)]

	unsynced atomic.Bool // a sync failed: nothing is written any more

	statements   sync.Map // of read: query → *sql.Stmt
	largeAccount int      // from how many records on an account is searched by index
}

// Exists says whether a data directory holds a catalog.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, File))
	return !errors.Is(err, fs.ErrNotExist)
}

// Open opens the catalog in a data directory, which it makes if need be, and brings its schema up to date.
func Open(ctx context.Context, dir string) (*DB, error) {
	path, err := prepare(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{writes: make(chan *write), done: make(chan struct{}), largeAccount: largeAccount}
	if db.write, err = open(path, 1, "&_txlock=immediate"); err != nil {
		return nil, err
	}
	if err = db.migratePatiently(ctx); err == nil {
		err = db.settle(ctx)
	}
	if err == nil {
		db.read, err = open(path, readers, "&_pragma=query_only(1)")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the catalog %s: %w", path, err), db.write.Close())
	}
	go db.writer()
	return db, nil
}

// prepare makes the directory and the file, readable by their owner only. SQLite gives its side files the same mode.
func prepare(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = makePrivate(dir)
	}
	path := filepath.Join(dir, File)
	var file *os.File
	if err == nil {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err == nil {
		err = errors.Join(file.Chmod(0o600), file.Close())
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return "", fmt.Errorf("cannot use the data directory %s: %w", dir, err)
	}
	return path, nil
}

// makePrivate makes the directory, or closes one that is empty or ours to others. A directory with other things in it
// keeps its mode: the files in it are private all the same.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 || Exists(dir) {
		err = os.Chmod(dir, 0o700)
	}
	if errors.Is(err, fs.ErrPermission) { // somebody else's, such as a volume of a container
		return nil
	}
	return err
}

// open opens a pool of connections. FULL syncs every commit to the disk before it is answered.
func open(path string, conns int, more string) (*sql.DB, error) {
	dsn := (&url.URL{Scheme: "file", Path: path}).String() + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=foreign_keys(1)&_pragma=secure_delete(1)&_pragma=trusted_schema(0)" + more
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// Ping fails while the catalog cannot be read, and after a sync that failed.
func (db *DB) Ping(ctx context.Context) error {
	if db.unsynced.Load() {
		return fault.Unsynced
	}
	var one int
	return failure(db.queryRow(ctx, `SELECT 1 FROM sqlite_schema LIMIT 1`).Scan(&one))
}

// failure gives an error of the driver its kind, so that callers can tell what to do about it.
func failure(err error) error {
	var cause *sqlite.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &cause):
		if errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed" {
			return fmt.Errorf("%w: %w", fault.Unavailable, err)
		}
		return err
	}
	switch code := cause.Code(); code & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", fault.Full, err)
	case sqlite3.SQLITE_IOERR:
		if code == sqlite3.SQLITE_IOERR_FSYNC || code == sqlite3.SQLITE_IOERR_DIR_FSYNC {
			return fmt.Errorf("%w: %w", fault.Unsynced, err)
		}
		return fmt.Errorf("%w: %w", fault.Unavailable, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", fault.Unavailable, err)
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return err
}

// violates says whether an error is of an extended code, such as SQLITE_CONSTRAINT_UNIQUE.
func violates(err error, code int) bool {
	var cause *sqlite.Error
	return errors.As(err, &cause) && cause.Code() == code
}

// missing gives "no rows" its kind and its context.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf(format+": %w", append(args, fault.NotFound)...)
	}
	return failure(err)
}

// unix is a time as it is stored; the zero time is NULL.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

// An instant scans a stored time; NULL is the zero time.
type instant struct{ to *time.Time }

func (i instant) Scan(value any) error {
	switch seconds := value.(type) {
	case nil:
		*i.to = time.Time{}
	case int64:
		*i.to = time.Unix(seconds, 0).UTC()
	default:
		return fmt.Errorf("a stored time is a %T", value)
	}
	return nil
}
