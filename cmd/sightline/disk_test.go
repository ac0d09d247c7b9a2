package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// diskVariable tells the program which file says how its disk fails.
const diskVariable = "SIGHTLINE_TEST_DISK"

// A disk is what the test of a program does to its files.
type disk struct{ control string }

func newDisk(t *testing.T) disk {
	return disk{filepath.Join(t.TempDir(), "disk")}
}

func (d disk) variable() string { return diskVariable + "=" + d.control }

// slowSync is how long a sync of a slow disk takes.
const slowSync = 250 * time.Millisecond

// fail breaks the disk: "sync" fails every sync, "full" every write, "slow" makes every sync slow, "" none.
func (d disk) fail(t *testing.T, what string) {
	t.Helper()
	if err := os.WriteFile(d.control, []byte(what), 0o600); err != nil {
		t.Fatal(err)
	}
}

type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	writeFunc = func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32
	syncFunc  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// useFailingDisk puts itself between SQLite and its files, which then fail as the file control says. It works without rights
// that a test may not have, such as tracing system calls.
func useFailingDisk(control string) {
	fails := func(what string) bool {
		text, err := os.ReadFile(control)
		return err == nil && string(text) == what
	}
	vfs := at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(libc.NewTLS(), 0))
	open := function[openFunc](vfs.FxOpen)
	var failing sync.Map // the methods that files of a kind share → *sync.Once
	vfs.FxOpen = pointerTo(func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
		code := open(tls, vfs, name, file, flags, outFlags)
		if code == sqlite3.SQLITE_OK {
			methods := at[sqlite3.Tsqlite3_file](file).FpMethods
			once, _ := failing.LoadOrStore(methods, new(sync.Once))
			once.(*sync.Once).Do(func() { failAs(fails, at[sqlite3.Tsqlite3_io_methods](methods)) })
		}
		return code
	})
}

// failAs lets files fail.
func failAs(fails func(what string) bool, methods *sqlite3.Tsqlite3_io_methods) {
	write, sync := function[writeFunc](methods.FxWrite), function[syncFunc](methods.FxSync)
	methods.FxWrite = pointerTo(func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32 {
		if fails("full") {
			return sqlite3.SQLITE_FULL
		}
		return write(tls, file, data, size, offset)
	})
	methods.FxSync = pointerTo(func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if fails("sync") {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		if fails("slow") {
			time.Sleep(slowSync)
		}
		return sync(tls, file, flags)
	})
}

// at is the C structure at an address.
func at[T any](address uintptr) *T {
	return *(**T)(unsafe.Pointer(&address))
}

// function is the Go function that a C function pointer means.
func function[F any](pointer uintptr) F {
	return *(*F)(unsafe.Pointer(&pointer))
}

// functions are kept because C function pointers do not keep them.
var functions []any

// pointerTo is the C function pointer of a Go function.
func pointerTo[F any](f F) uintptr {
	functions = append(functions, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}
