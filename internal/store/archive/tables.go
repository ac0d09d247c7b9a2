package archive

import (
	"sightline/internal/analytics"
	"sightline/internal/seo"
)

// Tables is everything that a catalog keeps, in the order in which it can be stored: what others refer to comes first.
// A change here that older programs cannot read needs a new Format.
var Tables = []*Table{
	{Name: "accounts", Key: "id", Counted: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "email", Kind: Text},
		{Name: "name", Kind: Text},
		{Name: "timezone", Kind: Text},
		{Name: "created_at", Kind: Time},
	}},
	{Name: "keys", Key: "id", Counted: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "account_id", Kind: Integer},
		{Name: "name", Kind: Text},
		{Name: "hash", Kind: Bytes},
		{Name: "scopes", Kind: Text},
		{Name: "created_at", Kind: Time},
		{Name: "last_used_at", Kind: Time, Optional: true},
		{Name: "expires_at", Kind: Time, Optional: true},
		{Name: "revoked_at", Kind: Time, Optional: true},
	}},
	{Name: "websites", Key: "id", Counted: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "account_id", Kind: Integer},
		{Name: "url", Kind: Text},
		{Name: "domain", Kind: Text},
		{Name: "privacy", Kind: Integer},
		{Name: "password_hash", Kind: Text},
		{Name: "email", Kind: Bool},
		{Name: "exclude_bots", Kind: Bool},
		{Name: "exclude_params", Kind: Text},
		{Name: "exclude_ips", Kind: Text},
		{Name: "tracking_id", Kind: Text},
		{Name: "version", Kind: Integer},
		{Name: "created_at", Kind: Time},
		{Name: "updated_at", Kind: Time},
		{Name: "deleted_at", Kind: Time, Optional: true},
	}, Derived: []Derived{
		{Name: "search_url", From: func(values []any) any {
			return (&analytics.Website{URL: values[2].(string)}).SearchURL()
		}},
		{Name: "search_domain", From: func(values []any) any {
			return (&analytics.Website{Domain: values[3].(string)}).SearchDomain()
		}},
	}},
	{Name: "projects", Key: "id", Counted: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "account_id", Kind: Integer},
		{Name: "name", Kind: Text},
		{Name: "reports", Kind: Integer},
		{Name: "score", Kind: Integer, Optional: true},
		{Name: "last_report_at", Kind: Time, Optional: true},
		{Name: "version", Kind: Integer},
		{Name: "created_at", Kind: Time},
		{Name: "updated_at", Kind: Time},
		{Name: "deleted_at", Kind: Time, Optional: true},
	}, Derived: []Derived{
		{Name: "search_name", From: func(values []any) any {
			return (&seo.Project{Name: values[2].(string)}).SearchName()
		}},
	}},
	{Name: "reports", Key: "id", Counted: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "account_id", Kind: Integer},
		{Name: "project_id", Kind: Integer},
		{Name: "url", Kind: Text},
		{Name: "scope", Kind: Text},
		{Name: "max_pages", Kind: Integer},
		{Name: "max_depth", Kind: Integer},
		{Name: "sitemap", Kind: Text},
		{Name: "ignore_robots", Kind: Bool},
		{Name: "privacy", Kind: Integer},
		{Name: "password_hash", Kind: Text},
		{Name: "state", Kind: Text},
		{Name: "run", Kind: Integer},
		{Name: "stopping", Kind: Bool},
		{Name: "done", Kind: Integer},
		{Name: "found", Kind: Integer},
		{Name: "current", Kind: Text},
		{Name: "score", Kind: Integer, Optional: true},
		{Name: "outcome", Kind: Text},
		{Name: "version", Kind: Integer},
		{Name: "queued_at", Kind: Time},
		{Name: "generated_at", Kind: Time, Optional: true},
		{Name: "created_at", Kind: Time},
		{Name: "updated_at", Kind: Time},
		{Name: "owner", Kind: Text},
		{Name: "lease_until", Kind: Time, Optional: true},
		{Name: "deleted_at", Kind: Time, Optional: true},
		{Name: "with_project", Kind: Bool},
	}, Derived: []Derived{
		{Name: "search_url", From: func(values []any) any {
			return (&seo.Report{URL: values[3].(string)}).SearchURL()
		}},
	}},
	{Name: "runs", Key: "id", Counted: true, Inner: true, Columns: []Column{
		{Name: "id", Kind: Integer},
		{Name: "report_id", Kind: Integer, Optional: true},
		{Name: "number", Kind: Integer},
		{Name: "state", Kind: Text},
		{Name: "queued_at", Kind: Time},
		{Name: "started_at", Kind: Time, Optional: true},
		{Name: "ended_at", Kind: Time, Optional: true},
		{Name: "outcome", Kind: Text},
		{Name: "pages", Kind: Integer},
		{Name: "pages_done", Kind: Integer},
		{Name: "checks", Kind: Integer},
		{Name: "checks_done", Kind: Integer},
		{Name: "fetched", Kind: Integer},
		{Name: "cut", Kind: Text},
		{Name: "items", Kind: Integer},
		{Name: "site", Kind: Text},
		{Name: "leftover", Kind: Bool},
	}},
	{Name: "crawl_items", Key: "run_id, kind, url", Columns: []Column{
		{Name: "run_id", Kind: Integer},
		{Name: "kind", Kind: Text},
		{Name: "url", Kind: Text},
		{Name: "number", Kind: Integer},
		{Name: "rank", Kind: Integer},
		{Name: "depth", Kind: Integer},
		{Name: "unlinked", Kind: Bool},
		{Name: "found_on", Kind: Text},
		{Name: "done", Kind: Bool},
	}},
	{Name: "pages", Key: "run_id, url", Columns: []Column{
		{Name: "run_id", Kind: Integer},
		{Name: "url", Kind: Text},
		{Name: "class", Kind: Text},
		{Name: "passed", Kind: Integer},
		{Name: "applicable", Kind: Integer},
		{Name: "value", Kind: Integer},
		{Name: "score", Kind: Integer},
		{Name: "facts", Kind: Bytes},
	}},
	{Name: "resources", Key: "run_id, url", Columns: []Column{
		{Name: "run_id", Kind: Integer},
		{Name: "url", Kind: Text},
		{Name: "details", Kind: Text},
	}},
	{Name: "findings", Key: "run_id, severity, check_id, page", Columns: []Column{
		{Name: "run_id", Kind: Integer},
		{Name: "severity", Kind: Integer},
		{Name: "check_id", Kind: Text},
		{Name: "page", Kind: Text},
		{Name: "details", Kind: Text},
	}},
	{Name: "receipts", Key: "account_id, operation, key", Columns: []Column{
		{Name: "account_id", Kind: Integer},
		{Name: "operation", Kind: Text},
		{Name: "key", Kind: Text},
		{Name: "request", Kind: Bytes},
		{Name: "status", Kind: Integer},
		{Name: "header", Kind: JSON, Optional: true},
		{Name: "answer", Kind: Bytes},
		{Name: "created_at", Kind: Time},
	}},
	{Name: "clock", Key: "job", Columns: []Column{
		{Name: "job", Kind: Text},
		{Name: "ran_at", Kind: Instant},
	}},
}

// Counters says of each counted table which id was handed out last: not always to a row that is still there.
var Counters = &Table{Name: "counters", Columns: []Column{
	{Name: "name", Kind: Text},
	{Name: "last", Kind: Integer},
}}

// Counter is the row of Counters about a table.
func Counter(table *Table, last int64) Row {
	return Row{Table: Counters, Values: []any{table.Name, last}}
}

// tableOf finds a table by its name.
func tableOf(name string) *Table {
	for _, table := range append(Tables[:len(Tables):len(Tables)], Counters) {
		if table.Name == name {
			return table
		}
	}
	return nil
}
