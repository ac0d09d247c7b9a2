// Package duckdb keeps the events in one file of the data directory. It needs cgo.
package duckdb

import "time"

// Folder is the folder of the data directory in which the events lie, File their file in it.
const (
	Folder = "events"
	File   = "events.duckdb"
)

// Options bound what the engine takes. The zero value has the defaults.
type Options struct {
	Memory  int64 // bytes; by default 1 GB, or a quarter of the machine's if that is less
	Threads int   // by default one for each core, and at least three
	Now     func() time.Time
}
