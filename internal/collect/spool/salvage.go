package spool

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openSound opens a file. One that is damaged is put aside, and what can be read of it is taken over into a new one.
func openSound(path string) (db *sql.DB, damage, err error) {
	if err := makePrivate(path); err != nil {
		return nil, nil, err
	}
	db, err = connect(path)
	if err == nil {
		if damage = check(db); damage == nil {
			return db, nil, nil
		}
		err = db.Close()
	}
	if damage == nil && isDamage(err) {
		damage, err = err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	aside, err := putFileAside(path)
	if err != nil {
		return nil, nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, nil, err
	}
	if db, err = connect(path); err != nil {
		return nil, nil, err
	}
	saved, lost := takeOver(db, aside)
	if lost != nil {
		damage = errors.Join(damage, lost)
	}
	return db, fmt.Errorf("the spool was damaged and is kept as %s; %d of its groups were taken over: %w", aside, saved, damage), nil
}

// makePrivate makes a file that its owner alone can read, and its directory if need be.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// check looks for damage of the file itself.
func check(db *sql.DB) error {
	var result string
	if err := db.QueryRow(`PRAGMA quick_check(1)`).Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return errors.New(result)
	}
	return nil
}

// isDamage says whether an error of the driver lies in what the file holds.
func isDamage(err error) bool {
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return false
	}
	code := cause.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// putFileAside renames a file and those that belong to it to the first free name.
func putFileAside(path string) (string, error) {
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.damaged-%d", path, i)
		if _, err := os.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return "", err
			}
			continue
		}
		for _, suffix := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
		return aside, nil
	}
}

// takeOver copies what can be read of a damaged file, up to the first failure, and returns that.
func takeOver(db *sql.DB, aside string) (saved int, lost error) {
	old, err := connect(aside)
	if err != nil {
		return 0, err
	}
	defer old.Close()
	rows, err := old.Query(`SELECT position, sum, body FROM groups ORDER BY position`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var position, sum int64
		var body []byte
		if err := rows.Scan(&position, &sum, &body); err != nil {
			return saved, err
		}
		if _, err := split(body, sum); err != nil {
			continue
		}
		if _, err := db.Exec(`INSERT INTO groups (position, sum, body) VALUES (?, ?, ?)`, position, sum, body); err != nil {
			return saved, err
		}
		saved++
	}
	return saved, rows.Err()
}
