package main

import (
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// websiteCmd serves the files of a directory on this machine until the script ends: website VARIABLE DIR. The variable has its
// address.
func websiteCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) == 2, "website VARIABLE DIR")
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}
