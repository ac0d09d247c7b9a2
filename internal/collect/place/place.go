// Package place says where an address is: its country by the file that is built in, or its region and city too by a
// richer one.
package place

import (
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"

	"sightline/internal/analytics"
	"sightline/internal/collect/recent"
)

// countries is read where it lies in the program: pages that nobody asks for stay on the disk. See countries-LICENSE.
//
//go:embed countries.mmdb
var countries []byte

// A Database finds places. It is safe for concurrent use.
type Database struct {
	file    string // empty: the one that is built in
	changed time.Time
	size    int64
	gone    bool // there was no file the last time
	content atomic.Pointer[content]
}

// A content is what was read from a file, and the places in it that were asked for lately, by where they lie in it.
type content struct {
	*maxminddb.Reader
	known *recent.Cache[uintptr, analytics.Place]
}

// remembered is how many places a content remembers.
const remembered = 10_000

// load reads mmdb data. There must be at least one place in it.
func load(data []byte) (*content, error) {
	reader, err := maxminddb.OpenBytes(data)
	if err == nil {
		err = usable(reader)
	}
	return &content{reader, recent.New[uintptr, analytics.Place](remembered)}, err
}

// maxFile bounds the file that is read into memory.
const maxFile = 512 << 20

// Open opens an mmdb file, or the countries that are built in when file is empty.
func Open(file string) (*Database, error) {
	db := &Database{file: file}
	if file != "" {
		if _, err := db.Reload(); err != nil {
			return nil, err
		}
		return db, nil
	}
	built, err := load(countries)
	if err != nil {
		return nil, fmt.Errorf("open the built-in countries: %w", err)
	}
	db.content.Store(built)
	return db, nil
}

// Reload reads the file again if it has changed, and reports whether it did. A file that cannot be read leaves the old one
// in use, and is reported once. It must not be called twice at once.
func (db *Database) Reload() (bool, error) {
	if db.file == "" {
		return false, nil
	}
	info, err := os.Stat(db.file)
	if err != nil && db.gone {
		return false, nil
	}
	if db.gone = err != nil; db.gone {
		return false, fmt.Errorf("open the geo database: %w", err)
	}
	if info.ModTime().Equal(db.changed) && info.Size() == db.size {
		return false, nil
	}
	db.changed, db.size = info.ModTime(), info.Size() // also of a broken file: it is reported once
	if info.Size() > maxFile {
		return false, fmt.Errorf("the geo database %s is larger than %d MiB", db.file, maxFile>>20)
	}
	// Read as a whole, not mapped: whoever writes over it in place would pull it from under running look-ups.
	data, err := os.ReadFile(db.file)
	if err != nil {
		return false, fmt.Errorf("open the geo database: %w", err)
	}
	fresh, err := load(data)
	if err != nil {
		return false, fmt.Errorf("the geo database %s is not usable: %w", db.file, err)
	}
	db.content.Store(fresh)
	return true, nil
}

// usable looks for the first place in a file.
func usable(reader *maxminddb.Reader) error {
	const enough = 10_000
	seen := 0
	for result := range reader.Networks() {
		if err := result.Err(); err != nil {
			return err
		}
		if seen++; read(result).Country != "" {
			return nil
		}
		if seen == enough {
			break
		}
	}
	return errors.New("it has no countries")
}

// Find says where an address is. What is not known is empty.
func (db *Database) Find(address netip.Addr) analytics.Place {
	if !address.IsValid() {
		return analytics.Place{}
	}
	content := db.content.Load()
	result := content.Lookup(address.WithZone("").Unmap())
	if !result.Found() {
		return analytics.Place{}
	}
	return content.known.FindOr(result.Offset(), func() analytics.Place { return read(result) })
}

// Where the kinds of mmdb files keep what.
var (
	countryPaths = [][]any{{"country", "iso_code"}, {"country_code"}, {"country"}}
	regionPaths  = [][]any{{"subdivisions", 0, "iso_code"}, {"subdivisions", 0, "names", "en"}, {"region_code"}, {"region"}, {"state1"}}
	cityPaths    = [][]any{{"city", "names", "en"}, {"city"}}
)

// read is the place in a record. A region or city without a country says nothing.
func read(result maxminddb.Result) analytics.Place {
	country, known := analytics.CountryOf(strings.ToUpper(first(result, countryPaths)))
	if !known {
		return analytics.Place{}
	}
	return analytics.Place{Country: country.Code, Region: first(result, regionPaths), City: first(result, cityPaths)}
}

// maxName is the longest name of a region or city, in bytes.
const maxName = 200

// first is the text at the first of several paths that has one.
func first(result maxminddb.Result, paths [][]any) string {
	for _, path := range paths {
		var text string
		if err := result.DecodePath(&text, path...); err == nil && text != "" && len(text) <= maxName {
			return strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return ""
}
