package storetest

import (
	"time"

	"pgregory.net/rapid"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// emptyTrash erases what the runs before left in the trash, since a purge by age is one of all accounts.
func (m *machine) emptyTrash(t *rapid.T) {
	if _, err := m.engine.PurgeOlder(m.ctx, at(1_000_000), 1_000_000); err != nil {
		t.Fatal(err)
	}
}

// someDeletion erases or moves into the trash. At times it refuses every other version.
func someDeletion(t *rapid.T) trash.Deletion {
	how := trash.Deletion{At: draw(t, "deleted at", at(2), at(1), at(0), time.Time{})}
	if draw(t, "check", false, false, true) {
		how.Check = func(version int64) error {
			if version%2 == 0 {
				return errRefused
			}
			return nil
		}
	}
	return how
}

// inTrash is the ids of a record that is in the trash, if there is one, or of any record.
func (m *machine) inTrash(t *rapid.T, object trash.Object) (owner, id twin) {
	all := m.ofKind(object)
	var deleted twins
	for _, record := range all {
		page, err := m.oracle.Trash(m.ctx, record.owner.oracle, []trash.Object{object}, pageRequest())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if item.ID == record.oracle {
				deleted = append(deleted, record)
			}
		}
	}
	if len(deleted) == 0 || draw(t, "any", false, false, false, true) {
		return m.record(t, all, "record")
	}
	record := draw(t, "deleted record", deleted...)
	return *record.owner, record
}

func (m *machine) restoreWebsite(t *rapid.T) {
	owner, id := m.inTrash(t, trash.Website)
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	var ours, theirs analytics.Website
	wantErr := m.oracle.RestoreWebsite(m.ctx, owner.oracle, id.oracle, &ours, ourReceipt)
	err := m.engine.RestoreWebsite(m.ctx, owner.engine, id.engine, &theirs, theirReceipt)
	if agree(t, wantErr, err) {
		equal(t, ours, m.asOracleWebsite(theirs))
	}
}

func (m *machine) restoreProject(t *rapid.T) {
	owner, id := m.inTrash(t, trash.Project)
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	var ours, theirs seo.Project
	wantErr := m.oracle.RestoreProject(m.ctx, owner.oracle, id.oracle, &ours, ourReceipt)
	err := m.engine.RestoreProject(m.ctx, owner.engine, id.engine, &theirs, theirReceipt)
	if agree(t, wantErr, err) {
		equal(t, ours, m.asOracleProject(theirs))
	}
}

func (m *machine) purge(t *rapid.T) {
	object := draw(t, "object", allKinds...)
	owner, id := m.inTrash(t, object)
	want, wantErr := m.oracle.Purge(m.ctx, owner.oracle, object, id.oracle, anyVersion)
	got, err := m.engine.Purge(m.ctx, owner.engine, object, id.engine, anyVersion)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleItem(got))
	}
}

// purgeOlder has no limit: which of those deleted in the same second go first is an engine's own affair.
func (m *machine) purgeOlder(t *rapid.T) {
	before := at(rapid.IntRange(0, 2).Draw(t, "before"))
	want, wantErr := m.oracle.PurgeOlder(m.ctx, before, 1_000)
	got, err := m.engine.PurgeOlder(m.ctx, before, 1_000)
	agree(t, wantErr, err)
	equal(t, want, got)
}

func (m *machine) listTrash(t *rapid.T) {
	owner := m.accounts.any(t, "account")
	for range lists {
		m.compareTrash(t, owner, draw(t, "objects", allKinds, allKinds[:1], allKinds[1:2], allKinds[2:]), somePage(t))
	}
}

func (m *machine) compareTrash(t *rapid.T, owner twin, objects []trash.Object, r listing.Request) {
	want, wantErr := m.oracle.Trash(m.ctx, owner.oracle, objects, r)
	got, err := m.engine.Trash(m.ctx, owner.engine, objects, r)
	agree(t, wantErr, err)
	for i, item := range got.Items {
		got.Items[i] = m.asOracleItem(item)
	}
	equal(t, want, got)
}

// ofKind is the ids of all records of a kind.
func (m *machine) ofKind(object trash.Object) twins {
	switch object {
	case trash.Project:
		return m.projects
	case trash.Report:
		return m.reports
	default:
		return m.websites
	}
}

// asOracleItem is an item in the trash of the engine with the oracle's id.
func (m *machine) asOracleItem(item trash.Item) trash.Item {
	item.ID = m.ofKind(item.Object).oracle(item.ID)
	return item
}

// takeTurn asks for the turn of one of two jobs of this run.
func (m *machine) takeTurn(t *rapid.T) {
	job := numbered(draw(t, "job", "purge", "erase"), m.run)
	now, every := at(rapid.IntRange(0, 50).Draw(t, "now")), time.Duration(rapid.IntRange(1, 20).Draw(t, "every"))*time.Second
	want, wantErr := m.oracle.TakeTurn(m.ctx, job, now, every)
	got, err := m.engine.TakeTurn(m.ctx, job, now, every)
	agree(t, wantErr, err)
	equal(t, want, got)
}
