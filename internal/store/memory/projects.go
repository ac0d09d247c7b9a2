package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
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
func (db *DB) CreateProject(ctx context.Context, p *seo.Project, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func() error {
		if err := db.needAccount(p.AccountID); err != nil {
			return err
		}
		if err := db.needName(p.AccountID, p.Name); err != nil {
			return err
		}
		p.ID = next(&db.last.project)
		db.projects = append(db.projects, keptProject(*p))
		return nil
	})
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref, how trash.Deletion) (gone seo.Project, err error) {
	err = db.change(ctx, func() error {
		i, err := db.findProject(account, ref)
		if err != nil {
			return err
		}
		p := db.projects[i]
		if err := checked(how, p.Version); err != nil {
			return err
		}
		db.projects = slices.Delete(db.projects, i, i+1)
		if how.At.IsZero() {
			db.eraseReports(func(r *report) bool { return r.ProjectID == p.ID })
		} else {
			db.deletedProjects = append(db.deletedProjects, deletedProject{p, second(how.At)})
			db.moveReports(p.ID, second(how.At))
		}
		gone = keptProject(p)
		return nil
	})
	return gone, err
}

// RestoreProject implements seo.Projects.
func (db *DB) RestoreProject(ctx context.Context, account, id int64, p *seo.Project, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func() error {
		i := slices.IndexFunc(db.deletedProjects, func(d deletedProject) bool { return d.record.AccountID == account && d.record.ID == id })
		if i < 0 {
			return fmt.Errorf("project %d in the trash: %w", id, fault.NotFound)
		}
		restored := db.deletedProjects[i].record
		if err := db.needName(account, restored.Name); err != nil {
			return err
		}
		db.deletedProjects = slices.Delete(db.deletedProjects, i, i+1)
		db.projects = append(db.projects, restored)
		slices.SortFunc(db.projects, func(a, b seo.Project) int { return cmp.Compare(a.ID, b.ID) })
		db.moveReports(id, time.Time{})
		*p = keptProject(restored)
		return nil
	})
}

// moveReports takes the reports of a project into the trash with it at a moment, or, when that is zero, brings them back.
func (db *DB) moveReports(project int64, at time.Time) {
	for i := range db.reports {
		if r := &db.reports[i]; r.ProjectID == project && (r.there() || r.withProject) {
			r.deletedAt, r.withProject = at, !at.IsZero()
		}
	}
}

// needName fails when a project of an account has the name.
func (db *DB) needName(account int64, name string) error {
	if _, err := db.findProject(account, seo.Ref{Name: name}); err == nil {
		return seo.ErrNameTaken
	}
	return nil
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
