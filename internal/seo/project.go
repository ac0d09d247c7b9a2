// Package seo is what the search-optimization half is about: projects, the sites under audit.
package seo

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/site"
	"sightline/internal/trash"
)

// MaxProjectName is the longest name of a project, in characters.
const MaxProjectName = 255

// A Project is one site under audit, or a group with any other name.
type Project struct {
	ID, AccountID int64
	Name          string // unique in its account; a host is in its normal form, see site.Name
	Reports       int
	Score         *int      // 0 to 100; nil while there is no report
	LastReportAt  time.Time // zero: no report
	Version       int64     // grows with each change
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// NewProject is a project without reports. It still needs a name.
func NewProject(account int64, now time.Time) Project {
	now = now.UTC().Truncate(time.Second)
	return Project{AccountID: account, Version: 1, CreatedAt: now, UpdatedAt: now}
}

// SetName takes over a name, a host in its normal form.
func (p *Project) SetName(text string) error {
	name := site.Name(text)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return fault.Field("project", "is required: a host such as example.com, or any other name")
	case n > MaxProjectName:
		return fault.Field("project", "must be at most 255 characters long")
	case !printable(name) || strings.Trim(name, invisible) == "":
		return fault.Field("project", "must contain printable characters only")
	case name == "/" || name == "." || name == "..":
		return fault.Field("project", "must not be a slash or dots alone: no path could name it")
	case isDigits(name):
		return fault.Field("project", "must not consist of digits only: such a name could not be told from an id")
	}
	p.Name = name
	return nil
}

// SetURL names the project after the host of an address.
func (p *Project) SetURL(text string) error {
	address, err := site.Parse(text)
	if err != nil {
		return fault.Field("url", err.Error())
	}
	if p.SetName(address.Domain) != nil {
		return fault.Field("url", "must have a host and port of at most 255 characters")
	}
	return nil
}

// Result says in a word how good the score is; empty while there is none.
func (p *Project) Result() string { return Result(p.Score) }

// SearchName is the folded text in which a search looks: the name as kept and, where that differs, in its own script.
func (p *Project) SearchName() string { return listing.Fold(site.BothForms(p.Name)) }

// A Ref names a project as callers do: by its id or, when ID is 0, by its name.
type Ref struct {
	ID   int64
	Name string
}

// ParseRef reads what stands for a project in a path. Text that names no possible project is NotFound.
func ParseRef(text string) (Ref, error) {
	if isDigits(text) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id == 0 {
			return Ref{}, fault.NotFound
		}
		return Ref{ID: id}, nil
	}
	var p Project
	if !utf8.ValidString(text) || p.SetName(text) != nil {
		return Ref{}, fault.NotFound
	}
	return Ref{Name: p.Name}, nil
}

// What a list of projects can be searched and sorted by.
const (
	SearchByProject = "project"
	SortByProject   = "project"
	SortByCreated   = "created_at"
)

// ErrNameTaken is what a store answers to a name that another project of the account has. It is also Invalid.
var ErrNameTaken error = nameTaken{}

type nameTaken struct{}

func (nameTaken) Error() string { return "the project exists already" }

func (nameTaken) Unwrap() error { return fault.Field("project", "exists already") }

// Projects is where projects rest. Every method is bound to one account: what another account owns is NotFound.
type Projects interface {
	// Projects lists one page of an account's projects.
	Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[Project], error)
	// Project reads one.
	Project(ctx context.Context, account int64, ref Ref) (Project, error)
	// CreateProject stores a new one for its AccountID and sets its ID, with its receipt if there is one, or answers
	// ErrNameTaken.
	CreateProject(ctx context.Context, p *Project, r *receipt.Receipt) error
	// DeleteProject moves one with all that belongs to it into the trash, or erases it, and returns what it was.
	DeleteProject(ctx context.Context, account int64, ref Ref, how trash.Deletion) (Project, error)
	// RestoreProject brings one back from the trash into p, with its receipt if there is one, or answers ErrNameTaken.
	RestoreProject(ctx context.Context, account, id int64, p *Project, r *receipt.Receipt) error
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// invisible are the characters that shape words of some scripts and emoji; alone they are nothing to look at.
const invisible = "\u200c\u200d"

// printable leaves out control characters, line separators and what reorders text.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && !strings.ContainsRune(invisible, r) })
}
