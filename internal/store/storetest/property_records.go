package storetest

import (
	"errors"

	"pgregory.net/rapid"

	"sightline/internal/analytics"
	"sightline/internal/seo"
)

func (m *machine) createWebsite(t *rapid.T) {
	owner, w := m.accounts.any(t, "account"), analytics.NewWebsite(0, someTime(t))
	if err := w.SetURL(draw(t, "url", someURLs...)); err != nil {
		t.Fatal(err)
	}
	ours, theirs := w, w
	ours.AccountID, theirs.AccountID = owner.oracle, owner.engine
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	if agree(t, m.oracle.CreateWebsite(m.ctx, &ours, ourReceipt), m.engine.CreateWebsite(m.ctx, &theirs, theirReceipt)) {
		m.websites.add(t, twin{theirs.ID, ours.ID, &owner})
	}
}

func (m *machine) readWebsite(t *rapid.T) {
	owner, id := m.record(t, m.websites, "website")
	want, wantErr := m.oracle.Website(m.ctx, owner.oracle, id.oracle)
	got, err := m.engine.Website(m.ctx, owner.engine, id.engine)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleWebsite(got))
	}
}

// changes are what an edit can do; the last one fails.
var changes = []func(*analytics.Website) error{
	func(w *analytics.Website) error { return w.SetURL("https://example.com") },
	func(w *analytics.Website) error { return w.SetURL("http://münchen.de/New") },
	func(w *analytics.Website) error { w.Privacy = (w.Privacy + 1) % 3; return nil },
	func(w *analytics.Website) error { w.PasswordHash = "hash"; return nil },
	func(w *analytics.Website) error { w.Email = true; return nil },
	func(w *analytics.Website) error { w.ExcludeBots = !w.ExcludeBots; return nil },
	func(w *analytics.Website) error { w.ExcludeParams = "a\nb_%"; return nil },
	func(w *analytics.Website) error { w.ExcludeParams = ""; return nil },
	func(w *analytics.Website) error { w.ExcludeIPs = "::1"; return nil },
	func(w *analytics.Website) error { return w.SetURL("ftp://no") },
}

// someEdit makes up to three changes. None is a change too.
func someEdit(t *rapid.T) func(*analytics.Website) error {
	now := someTime(t)
	picked := rapid.SliceOfN(rapid.IntRange(0, len(changes)-1), 0, 3).Draw(t, "changes")
	return func(w *analytics.Website) error {
		return w.Edit(now, func(w *analytics.Website) error {
			var errs []error
			for _, i := range picked {
				errs = append(errs, changes[i](w))
			}
			return errors.Join(errs...)
		})
	}
}

func (m *machine) updateWebsite(t *rapid.T) {
	owner, id := m.record(t, m.websites, "website")
	edit := someEdit(t)
	want, wantErr := m.oracle.UpdateWebsite(m.ctx, owner.oracle, id.oracle, edit)
	got, err := m.engine.UpdateWebsite(m.ctx, owner.engine, id.engine, edit)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleWebsite(got))
	}
}

func (m *machine) deleteWebsite(t *rapid.T) {
	owner, id := m.record(t, m.websites, "website")
	how := someDeletion(t)
	agree(t, m.oracle.DeleteWebsite(m.ctx, owner.oracle, id.oracle, how), m.engine.DeleteWebsite(m.ctx, owner.engine, id.engine, how))
}

func (m *machine) oldestWebsite(t *rapid.T) {
	owner, domain := m.accounts.any(t, "account"), draw(t, "domain", "example.com", "example.com:8080", "xn--mnchen-3ya.de", "xn--ber-goa.example", "a_b.example", "example")
	want, wantErr := m.oracle.OldestWebsite(m.ctx, owner.oracle, domain)
	got, err := m.engine.OldestWebsite(m.ctx, owner.engine, domain)
	if agree(t, wantErr, err) {
		equal(t, want, m.websites.oracle(got))
	}
}

func (m *machine) createProject(t *rapid.T) {
	owner, p := m.accounts.any(t, "account"), seo.NewProject(0, someTime(t))
	p.Name, p.Score, p.Reports = draw(t, "name", someNames...), draw(t, "score", nil, score(0), score(77)), rapid.IntRange(0, 2).Draw(t, "reports")
	ours, theirs := p, p
	ours.AccountID, theirs.AccountID = owner.oracle, owner.engine
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	if agree(t, m.oracle.CreateProject(m.ctx, &ours, ourReceipt), m.engine.CreateProject(m.ctx, &theirs, theirReceipt)) {
		m.projects.add(t, twin{theirs.ID, ours.ID, &owner})
	}
}

// ref names a project by id or by name, for the oracle and for the engine.
func (m *machine) ref(t *rapid.T) (owner twin, ours, theirs seo.Ref) {
	if rapid.Bool().Draw(t, "by name") {
		ref := seo.Ref{Name: draw(t, "name", someNames...)}
		return m.accounts.any(t, "account"), ref, ref
	}
	owner, id := m.record(t, m.projects, "project")
	return owner, seo.Ref{ID: id.oracle}, seo.Ref{ID: id.engine}
}

func (m *machine) readProject(t *rapid.T) {
	owner, ours, theirs := m.ref(t)
	want, wantErr := m.oracle.Project(m.ctx, owner.oracle, ours)
	got, err := m.engine.Project(m.ctx, owner.engine, theirs)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleProject(got))
	}
}

func (m *machine) deleteProject(t *rapid.T) {
	owner, ours, theirs := m.ref(t)
	how := someDeletion(t)
	want, wantErr := m.oracle.DeleteProject(m.ctx, owner.oracle, ours, how)
	got, err := m.engine.DeleteProject(m.ctx, owner.engine, theirs, how)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleProject(got))
	}
}
