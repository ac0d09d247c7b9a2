package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A servedSite is a static site that another process serves. Where more pages are asked for than there are, it serves copies of them.
type servedSite struct {
	url   string
	pages int // files of HTML
	end   func()
}

// serveSite starts the server of the site and finds out where it is.
func serveSite(ctx context.Context, dir string) (servedSite, error) {
	site := servedSite{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".html") {
			site.pages++
		}
		return err
	})
	if err != nil {
		return site, err
	}
	if site.pages == 0 {
		return site, fmt.Errorf("there are no pages in %s", dir)
	}
	program, err := os.Executable()
	if err != nil {
		return site, err
	}
	server := exec.CommandContext(ctx, program, "-audit", dir, "-audit-serve")
	server.Stderr = os.Stderr
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return site, err
	}
	site.end = func() { server.Process.Kill(); server.Wait() }
	if _, err := fmt.Fscanln(stdout, &site.url); err != nil {
		site.end()
		return site, fmt.Errorf("the server of the site did not start: %w", err)
	}
	return site, nil
}

// start is where a crawl of so many pages begins: the site itself, or a page that leads to as many copies as it takes. Some files may
// not be linked, so a tenth is left out of the account.
func (s servedSite) start(most int) string {
	copies := 1 + most*10/(s.pages*9)
	if copies == 1 {
		return s.url + "1/"
	}
	return s.url + "?copies=" + strconv.Itoa(copies)
}

// beSite serves copies of a directory until it is killed.
func beSite(dir string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	files := http.FileServer(http.Dir(dir))
	fmt.Printf("http://%s/\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if copies, err := strconv.Atoi(r.FormValue("copies")); r.URL.Path == "/" && err == nil {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for i := range copies {
				fmt.Fprintf(w, "<p><a href=/%d/>copy %[1]d</a></p>\n", i+1)
			}
			return
		}
		number, _, _ := strings.Cut(r.URL.Path[1:], "/")
		if _, err := strconv.Atoi(number); err != nil {
			http.NotFound(w, r)
			return
		}
		http.StripPrefix("/"+number, files).ServeHTTP(w, r)
	}))
}
