package client

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Report is an audit of a page or of a whole site.
type Report struct {
	ID           int64     `json:"id"`
	URL          string    `json:"url"`
	Project      string    `json:"project"`
	Scope        string    `json:"scope"` // page or site
	MaxPages     int       `json:"max_pages"`
	MaxDepth     int       `json:"max_depth"`
	Sitemap      string    `json:"sitemap"`
	IgnoreRobots bool      `json:"-"` // what robots.txt disallows is audited too
	Privacy      Privacy   `json:"privacy"`
	Password     bool      `json:"password"` // whether one is set
	State        string    `json:"state"`    // queued, running, done, failed or stopped
	Progress     Progress  `json:"progress"`
	Run          int       `json:"run"`          // the number of its newest audit
	GeneratedAt  time.Time `json:"generated_at"` // zero: no audit has ended yet
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Outcome

	ETag string          `json:"-"` // of this version, for IfMatch; empty in lists and while an audit runs
	Raw  json.RawMessage `json:"-"` // the record as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Report) UnmarshalJSON(data []byte) error {
	type plain Report
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	r.Raw = bytes.Clone(data)
	return json.Unmarshal(data, &struct {
		IgnoreRobots *flag `json:"ignore_robots"`
	}{(*flag)(&r.IgnoreRobots)})
}

// Ended says that the newest audit is over.
func (r *Report) Ended() bool { return r.State != "queued" && r.State != "running" }

// Progress is how far an audit is.
type Progress struct {
	Done    int    `json:"done"` // pages
	Found   int    `json:"found"`
	Current string `json:"current"` // the address that was fetched last
}

// An Outcome is what an audit came to.
type Outcome struct {
	Score  *int   `json:"score"`  // 0 to 100; nil: there is none
	Result string `json:"result"` // good, decent or bad; empty: there is no score
	Issues struct {
		Error   int `json:"error"`
		Warning int `json:"warning"`
		Notice  int `json:"notice"`
	} `json:"issues"`
	Pages     int                    `json:"pages"`      // that were audited
	StoppedBy string                 `json:"stopped_by"` // what ended the crawl before its end; empty: nothing
	Failure   string                 `json:"failure"`    // why there is no score, in a sentence
	Results   map[string]CheckResult `json:"results"`    // by the id of the check
}

// A CheckResult is how a report does in one check.
type CheckResult struct {
	Passed   bool    `json:"passed"`
	Severity string  `json:"severity"` // error, warning or notice
	Value    string  `json:"value"`    // what was measured, where one page was audited
	Findings int     `json:"findings"` // how many pages fail it
	Points   float64 `json:"points"`   // what the score gains when it is fixed everywhere
}

// NewReport says what to audit. What is empty is left to the server.
type NewReport struct {
	URL          string   `json:"url"`
	Scope        string   `json:"scope,omitempty"` // page or site
	MaxPages     int      `json:"max_pages,omitempty"`
	MaxDepth     int      `json:"max_depth,omitempty"`
	Sitemap      string   `json:"sitemap,omitempty"`
	IgnoreRobots bool     `json:"-"` // audit what robots.txt disallows too; for a host that the account has as a website
	Privacy      *Privacy `json:"privacy,omitempty"`
	Password     string   `json:"password,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r NewReport) MarshalJSON() ([]byte, error) {
	type plain NewReport
	return json.Marshal(struct {
		plain
		IgnoreRobots flag `json:"ignore_robots,omitempty"`
	}{plain(r), flag(r.IgnoreRobots)})
}

// ReportOptions say which reports a list shall hold.
type ReportOptions struct {
	ListOptions
	Project string // name or id; empty: of all projects
	Result  string // good, decent or bad; empty: whatever it is
}

const (
	reports  = "/api/v1/reports"
	longWait = 20 * time.Second // less than a try may take
)

func reportPath(id int64) string { return reports + "/" + strconv.FormatInt(id, 10) }

// Reports lists one page of the reports.
func (c *Client) Reports(ctx context.Context, o ReportOptions) (Page[Report], error) {
	query := o.values()
	for name, value := range map[string]string{"project": o.Project, "result": o.Result} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return page[Report](ctx, c, SEO, reports, query)
}

// AllReports lists the reports on all pages, from o.Page on. Reports that come or go meanwhile may be missed or repeated. An
// error ends it.
func (c *Client) AllReports(ctx context.Context, o ReportOptions) iter.Seq2[Report, error] {
	return all(PageOptions{o.PerPage, o.Page}, func(p PageOptions) (Page[Report], error) {
		o.PerPage, o.Page = p.PerPage, p.Page
		return c.Reports(ctx, o)
	})
}

// Report reads one.
func (c *Client) Report(ctx context.Context, id int64) (Report, error) {
	return c.report(ctx, call{method: http.MethodGet, path: reportPath(id)})
}

// AwaitReport reads one when its audit is over, or as it is after a time of at most 20 seconds: whoever wants to wait longer asks
// again.
func (c *Client) AwaitReport(ctx context.Context, id int64, wait time.Duration) (Report, error) {
	seconds := int(min(wait, longWait) / time.Second)
	return c.report(ctx, call{method: http.MethodGet, path: reportPath(id), query: url.Values{"wait": {strconv.Itoa(seconds)}}})
}

// CreateReport has a page or a site audited. It does not wait for that.
func (c *Client) CreateReport(ctx context.Context, r NewReport) (Report, error) {
	return c.report(ctx, call{method: http.MethodPost, path: reports, body: r})
}

// AuditAgain asks for another audit of a report.
func (c *Client) AuditAgain(ctx context.Context, id int64, options ...WriteOption) (Report, error) {
	return c.report(ctx, call{method: http.MethodPatch, path: reportPath(id), body: map[string]int{"results": 1}, options: options})
}

// SetReportPrivacy changes who may open a report. An empty password stays as it is.
func (c *Client) SetReportPrivacy(ctx context.Context, id int64, privacy Privacy, password string, options ...WriteOption) (Report, error) {
	body := map[string]any{"privacy": privacy}
	if password != "" {
		body["password"] = password
	}
	return c.report(ctx, call{method: http.MethodPatch, path: reportPath(id), body: body, options: options})
}

// StopReport ends the audit of a report.
func (c *Client) StopReport(ctx context.Context, id int64) (Report, error) {
	return c.report(ctx, call{method: http.MethodPost, path: reportPath(id) + "/stop"})
}

// DeleteReport moves a report into the trash.
func (c *Client) DeleteReport(ctx context.Context, id int64, options ...WriteOption) (Deleted, error) {
	return c.delete(ctx, call{area: SEO, path: reportPath(id), options: options})
}

// RestoreReport brings a report back from the trash.
func (c *Client) RestoreReport(ctx context.Context, id int64) (Report, error) {
	return c.report(ctx, call{method: http.MethodPost, path: trashPath("report", id) + "/restore"})
}

// PurgeReport erases a report in the trash for good.
func (c *Client) PurgeReport(ctx context.Context, id int64) (Deleted, error) {
	return c.delete(ctx, call{area: SEO, path: trashPath("report", id)})
}

// report makes a call that answers with one.
func (c *Client) report(ctx context.Context, q call) (Report, error) {
	q.area = SEO
	var body struct{ Data Report }
	header, err := c.do(ctx, q, &body)
	if err == nil {
		body.Data.ETag = header.Get("ETag")
	}
	return body.Data, err
}
