package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/seo"
)

// Projects implements seo.Projects.
func (db *DB) Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[seo.Project], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[seo.Project]{}, err
	}
	defer unlock()
	var rows []seo.Project
	for _, p := range db.projects {
		if p.AccountID == account && contains(p.SearchName(), r) {
			rows = append(rows, keptProject(p))
		}
	}
	return onePage(rows, r, func(a, b seo.Project) int {
		if r.SortBy == seo.SortByProject {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}), nil
}

// Project implements seo.Projects.
func (db *DB) Project(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return seo.Project{}, err
	}
	defer unlock()
	i, err := db.findProject(account, ref)
	if err != nil {
		return seo.Project{}, err
	}
	return keptProject(db.projects[i]), nil
}

// CreateProject implements seo.Projects.
func (db *DB) CreateProject(ctx context.Context, p *seo.Project) error {
	unlock, err := db.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := db.needAccount(p.AccountID); err != nil {
		return err
	}
	if _, err := db.findProject(p.AccountID, seo.Ref{Name: p.Name}); err == nil {
		return seo.ErrNameTaken
	}
	p.ID = next(&db.last.project)
	db.projects = append(db.projects, keptProject(*p))
	return nil
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return seo.Project{}, err
	}
	defer unlock()
	i, err := db.findProject(account, ref)
	if err != nil {
		return seo.Project{}, err
	}
	deleted := db.projects[i]
	db.projects = slices.Delete(db.projects, i, i+1)
	return deleted, nil
}

// findProject is the index of a project.
func (db *DB) findProject(account int64, ref seo.Ref) (int, error) {
	for i, p := range db.projects {
		named := ref.ID == 0 && p.Name == ref.Name
		if p.AccountID == account && (p.ID == ref.ID || named) {
			return i, nil
		}
	}
	if ref.ID != 0 {
		return 0, fmt.Errorf("project %d: %w", ref.ID, fault.NotFound)
	}
	return 0, fmt.Errorf("project %q: %w", ref.Name, fault.NotFound)
}

// keptProject is a project as it is kept. It shares no memory with p.
func keptProject(p seo.Project) seo.Project {
	p.LastReportAt, p.CreatedAt, p.UpdatedAt = second(p.LastReportAt), second(p.CreatedAt), second(p.UpdatedAt)
	if p.Score != nil {
		score := *p.Score
		p.Score = &score
	}
	return p
}
