package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sightline/internal/account"
	"sightline/internal/store"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/sqlite"
)

// TestMain lets the tests run this program as sightline, on a disk that fails if they say so.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sightline": func() {
		if control := os.Getenv(diskVariable); control != "" {
			useFailingDisk(control)
		}
		main()
	}})
}

// TestScripts runs the real binary as testdata/script says.
func TestScripts(t *testing.T) {
	runScripts(t, "../../testdata/script")
}

// TestPostgresScripts does so on PostgreSQL.
func TestPostgresScripts(t *testing.T) {
	runScripts(t, "../../testdata/script/postgres", "SIGHTLINE_DATABASE="+pgtest.URL(t))
}

// runScripts runs the scripts in a folder, with more environment variables.
func runScripts(t *testing.T, dir string, variables ...string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, variables...)
			env.Vars = append(env.Vars, "GORACE=atexit_sleep_ms=0") // else each program under the race detector ends a second later
			env.Values[serverKey{}] = &server{env: env.Vars}
			return nil
		},
		Condition: func(name string) (bool, error) { return name == "root" && os.Geteuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"catalog":   catalogCmd,
			"fails":     failsCmd,
			"http":      httpCmd,
			"keep":      keepCmd,
			"mode":      modeCmd,
			"occupy":    occupyCmd,
			"schema":    schemaCmd,
			"start":     startCmd,
			"terminate": terminateCmd,
			"website":   websiteCmd,
		},
	})
}

// demand ends the script when a command is written wrongly.
func demand(ts *testscript.TestScript, right bool, usage string) {
	if !right {
		ts.Fatalf("usage: %s", usage)
	}
}

// failsCmd runs sightline, which must exit with a code and say why in one line: fails CODE [ARGUMENTS].
func failsCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) > 0, "fails CODE [ARGUMENTS]")
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec("sightline", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if text := ts.ReadFile("stderr"); !strings.HasPrefix(text, "sightline: ") || strings.Index(text, "\n") != len(text)-1 {
		ts.Fatalf("standard error is not one line that begins with sightline:")
	}
	if ts.ReadFile("stdout") != "" {
		ts.Fatalf("standard output is not empty")
	}
}

// keepCmd puts the standard output of the command before into a variable: keep NAME.
func keepCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) == 1, "keep NAME")
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// modeCmd checks the permissions of files: mode 0600 FILE….
func modeCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) > 1, "mode PERMISSIONS FILE…")
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if mode := fmt.Sprintf("%04o", info.Mode().Perm()); mode != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, mode, args[0])
		}
	}
}

// occupyCmd listens on a free port of 127.0.0.1 until the script ends: occupy VARIABLE.
func occupyCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) == 1, "occupy VARIABLE")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// catalogCmd makes a catalog with one account and no keys: catalog DIR.
func catalogCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) == 1, "catalog DIR")
	ctx := context.Background()
	catalog, err := store.Open(ctx, "", ts.MkAbs(args[0]))
	ts.Check(err)
	owner := account.New("owner@example.com", time.Now())
	ts.Check(errors.Join(catalog.CreateAccount(ctx, &owner), catalog.Close()))
}

// schemaCmd makes a catalog look as if another version had written it: schema DIR NUMBER.
func schemaCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) == 2, "schema DIR NUMBER")
	db, err := sql.Open("sqlite", filepath.Join(ts.MkAbs(args[0]), sqlite.File))
	ts.Check(err)
	_, err = db.Exec("PRAGMA user_version = " + args[1])
	ts.Check(errors.Join(err, db.Close()))
}
