//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"sightline/internal/analytics"
	"sightline/internal/fault"
)

// How many questions are answered at once. More wait.
const readers = 8

// minThreads is how many threads the engine has at least. It cuts its hash tables into more parts for three than for two, and
// counts millions of different visitors with a third less work.
const minThreads = 3

// DB is an open store of events. It implements store.Events.
type DB struct {
	path    string
	options Options
	code    string // see rendering

	// reading is held by whoever uses sql, and taken for itself by whoever replaces it.
	reading sync.RWMutex
	sql     *sql.DB // nil when it could not be opened again

	// writing is held for each change.
	writing   sync.Mutex
	position  int64              // of the newest stored batch
	meanwhile *[]analytics.Batch // what is appended while the file is rewritten

	upkeep  sync.Mutex // one at a time erases or compacts
	closing context.Context
	close   context.CancelFunc // stops what is being compacted
}

// Open opens the events in a data directory, which it makes if need be, and brings their schema up to date.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	folder, err := filepath.Abs(filepath.Join(dir, Folder))
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = errors.Join(os.Chmod(folder, 0o700), os.RemoveAll(filepath.Join(folder, rewritten)))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the data directory %s: %w", dir, err)
	}
	db := &DB{path: filepath.Join(folder, File), options: o, code: "hash"}
	db.closing, db.close = context.WithCancel(context.WithoutCancel(ctx))
	if err := db.open(ctx); err != nil {
		return nil, err
	}
	if err := db.sweep(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// open opens the file and reads the position.
func (db *DB) open(ctx context.Context) error {
	pool, err := db.connect(ctx, db.path)
	if err != nil {
		return fmt.Errorf("open the events %s: %w", db.path, err)
	}
	err = os.Chmod(db.path, 0o600)
	if err == nil {
		err = pool.QueryRowContext(ctx, `SELECT position FROM about`).Scan(&db.position)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open the events %s: %w", db.path, failure(err)), pool.Close())
	}
	db.sql = pool
	return nil
}

// connect opens a file of events and brings its schema up to date. Nothing is ever downloaded, and no file outside of the
// folder is read or written.
func (db *DB) connect(ctx context.Context, path string) (*sql.DB, error) {
	threads := db.options.Threads
	if threads == 0 {
		threads = max(runtime.NumCPU(), minThreads)
	}
	settings := url.Values{
		"threads":                       {strconv.Itoa(threads)},
		"temp_directory":                {filepath.Join(filepath.Dir(path), "temporary")},
		"autoinstall_known_extensions":  {"false"},
		"autoload_known_extensions":     {"false"},
		"storage_compatibility_version": {"v1.5.0"}, // smaller than what older engines can read
		"checkpoint_threshold":          {"32MB"},   // of the log: about 130,000 events, read again in half a second after a crash
	}
	connector, err := duckdb.NewConnector(path+"?"+settings.Encode(), nil)
	if err != nil {
		return nil, opening(err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(readers + 1)
	pool.SetMaxIdleConns(readers + 1)
	err = db.limit(ctx, pool, filepath.Dir(path))
	if err == nil {
		err = migrate(ctx, pool)
	}
	if err != nil {
		return nil, errors.Join(failure(err), pool.Close())
	}
	return pool, nil
}

// limit sets how much memory the engine may take, and closes everything but its folder to it.
func (db *DB) limit(ctx context.Context, pool *sql.DB, folder string) error {
	memory := db.options.Memory
	if memory == 0 {
		var most float64 // the engine's own default, four fifths of the machine's
		var unit string
		err := pool.QueryRowContext(ctx, `SELECT split_part(m, ' ', 1)::DOUBLE, split_part(m, ' ', 2) FROM (SELECT current_setting('memory_limit') AS m)`).Scan(&most, &unit)
		if err != nil {
			return err
		}
		memory = 1 << 30
		if scale := map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[unit]; scale > 0 {
			memory = min(memory, int64(most*scale*5/16))
		}
	}
	for _, statement := range []string{
		fmt.Sprintf(`SET GLOBAL memory_limit = '%dB'`, memory),
		fmt.Sprintf(`SET GLOBAL allowed_directories = ['%s']`, strings.ReplaceAll(folder, "'", "''")),
		`SET GLOBAL enable_external_access = false`,
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// use hands the open file to a reader; it is not replaced meanwhile.
func (db *DB) use(ctx context.Context, read func(*sql.DB) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.reading.RLock()
	defer db.reading.RUnlock()
	if db.sql == nil {
		return errClosed
	}
	return failure(read(db.sql))
}

var errClosed = fmt.Errorf("the events are closed: %w", fault.Unavailable)

// Close waits for what is running and gives everything back. A file that is being rewritten is given up.
func (db *DB) Close() error {
	db.close()
	db.upkeep.Lock()
	defer db.upkeep.Unlock()
	db.writing.Lock()
	defer db.writing.Unlock()
	db.reading.Lock()
	defer db.reading.Unlock()
	return db.shut()
}

// shut closes the file. Its caller keeps all others out.
func (db *DB) shut() error {
	if db.sql == nil {
		return nil
	}
	err := db.sql.Close()
	db.sql = nil
	return err
}

// opening says why a file cannot be opened.
func opening(err error) error {
	if text := err.Error(); strings.Contains(text, "Could not set lock on file") {
		return errors.New("another process has them open: stop it, or start this one with another --data directory")
	}
	return failure(err)
}

// failure gives an error of the engine its kind, so that callers can tell what to do about it.
func failure(err error) error {
	var cause *duckdb.Error
	if err == nil || !errors.As(err, &cause) {
		if err != nil && err.Error() == "sql: database is closed" {
			return fmt.Errorf("%w: %w", fault.Unavailable, err)
		}
		return err
	}
	switch {
	case strings.Contains(cause.Msg, "No space left on device") || strings.Contains(cause.Msg, "Disk quota exceeded"):
		return fmt.Errorf("%w: %w", fault.Full, err)
	case cause.Type == duckdb.ErrorTypeInterrupt:
		return fmt.Errorf("%w: %w", context.Canceled, err)
	case cause.Type == duckdb.ErrorTypeOutOfMemory || cause.Type == duckdb.ErrorTypeIO || cause.Type == duckdb.ErrorTypeFatal:
		return fmt.Errorf("%w: %w", fault.Unavailable, err)
	}
	return err
}

// exists says whether a file is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
