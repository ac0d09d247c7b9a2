// Command sightline runs the search-optimization and analytics areas, and manages their accounts and keys.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"sightline/internal/config"
)

// What the program exits with.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // an unknown command or flag, or a setting that cannot be right
)

// commands is the grammar of the command line.
type commands struct {
	config.File
	Serve      ServeCmd      `cmd:"" help:"Run the server."`
	Audit      AuditCmd      `cmd:"" help:"Audit a page or a site, without a server."`
	Key        KeyCmd        `cmd:"" help:"Create, list and revoke API keys."`
	Account    AccountCmd    `cmd:"" help:"Create and list accounts."`
	Websites   WebsitesCmd   `cmd:"" help:"Manage the websites of a running server."`
	Projects   ProjectsCmd   `cmd:"" help:"Manage the projects of a running server."`
	Reports    ReportsCmd    `cmd:"" help:"Have sites audited by a running server."`
	Stats      StatsCmd      `cmd:"" help:"Show the visits to a website."`
	Export     ExportCmd     `cmd:"" help:"Write the events of a website into a file."`
	Import     ImportCmd     `cmd:"" help:"Store the events of a file."`
	Events     EventsCmd     `cmd:"" help:"Look after the events of a running server."`
	Backup     BackupCmd     `cmd:"" help:"Write everything into a file, also beside a running server."`
	Restore    RestoreCmd    `cmd:"" help:"Fill an empty installation with a backup."`
	Catalog    CatalogCmd    `cmd:"" help:"Move an installation to another database."`
	Completion CompletionCmd `cmd:"" help:"Print a script that lets a shell complete commands and flags."`
	Version    VersionCmd    `cmd:"" help:"Show the version."`
}

// A terminal is what a command reads and writes, and the clock that it goes by.
type terminal struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, &terminal{os.Stdin, os.Stdout, os.Stderr, time.Now}))
}

// run does what the arguments ask for and returns what to exit with.
func run(ctx context.Context, args []string, env config.Env, term *terminal) int {
	if len(args) == 0 {
		run(ctx, []string{"--help"}, env, &terminal{term.stdin, term.stderr, term.stderr, term.now})
		return exitUsage
	}
	helped := false
	parser := kong.Must(&commands{},
		kong.Name("sightline"),
		kong.Description("Self-hosted search optimization and web analytics: one server, two HTTP interfaces."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ValueFormatter(config.DescribeFlag),
		kong.Writers(term.stdout, term.stderr),
		kong.Exit(func(int) { helped = true }),
		kong.Bind(env, term),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if helped { // kong goes on to complain about what is missing
		return exitDone
	}
	if err != nil {
		return fail(term, misuse(err))
	}
	return fail(term, parsed.Run())
}

// fail reports an error, if there is one, and returns what to exit with.
func fail(term *terminal, err error) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(term.stderr, "sightline: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitFailed
}

// A usageError is a mistake in how the program was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage marks an error as a mistake in how the program was called.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// longestEcho is how much of a stray argument is repeated: a command in full, an API key not.
const longestEcho = 15

// misuse words a complaint of kong: without what could be a key or password in the wrong place, and with where to read on.
func misuse(err error) error {
	text := err.Error()
	if flag, _, found := strings.Cut(text, ": expected string value but got "); found {
		text = flag + " needs a value"
	}
	if stray, found := strings.CutPrefix(text, "unexpected argument "); found && len(stray) > longestEcho && !strings.Contains(stray, ", did you mean ") {
		text = "unexpected argument " + strings.ToValidUTF8(stray[:4], "") + "…"
	}
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.ExitCode() != exitFailed { // it failed because of the arguments, not of the configuration
		node := parse.Context.Selected()
		if node == nil {
			node = parse.Context.Model.Node
		}
		text += " (see " + node.FullPath() + " --help)"
	}
	return usage(errors.New(text))
}
