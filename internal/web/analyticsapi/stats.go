package analyticsapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/web/apikit"
)

var statsQuery = []string{"metrics", "by", "interval", "filter", "from", "to", "timezone", "compare", "limit", "per_page", "page", "sort", "search"}

// A question is what a caller asks about a website.
type question struct {
	query   analytics.Query
	period  period
	by      string // as the caller calls it; rows carry their value under this name
	filters []string
	page    listing.Request
	compare string // how the other period was named; empty: nothing is compared
	other   period
}

// stats serves GET /api/v1/websites/{id}/stats.
func (a *API) stats(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	asked, err := a.question(r, site.ID)
	if err != nil {
		return err
	}
	table, err := a.page(r.Context(), asked.query, asked.page)
	if err != nil {
		return err
	}
	body := statsBody{Data: asked.rows(table.Rows), Totals: asked.row(analytics.Row{Metrics: table.Totals}, false), Query: asked.echo(), Status: http.StatusOK}
	if body.Compare, err = a.comparison(r.Context(), asked, table.Rows); err != nil {
		return err
	}
	body.Links, body.Meta = apikit.Pages(r, a.Base, asked.page, len(table.Rows), table.Total)
	return apikit.Write(w, http.StatusOK, body)
}

type statsBody struct {
	Data    []object     `json:"data"`
	Totals  object       `json:"totals"`
	Compare *compared    `json:"compare"`
	Query   queryJSON    `json:"query"`
	Links   apikit.Links `json:"links"`
	Meta    apikit.Meta  `json:"meta"`
	Status  int          `json:"status"`
}

// queryJSON is a question as it was understood.
type queryJSON struct {
	From     string             `json:"from"`
	To       string             `json:"to"`
	Timezone string             `json:"timezone"`
	Metrics  []analytics.Metric `json:"metrics"`
	By       *string            `json:"by"`
	Interval *string            `json:"interval"`
	Filter   []string           `json:"filter"`
	Compare  *string            `json:"compare"`
	Sort     string             `json:"sort"`
	Search   *string            `json:"search"`
}

func (q *question) echo() queryJSON {
	sort, direction := cmp.Or(string(q.query.Order.Metric), q.by), "asc"
	if q.query.Order.Desc {
		direction = "desc"
	}
	return queryJSON{From: q.period.first.Format(time.DateOnly), To: q.period.last.Format(time.DateOnly), Timezone: q.period.zone.String(),
		Metrics: q.query.Metrics, By: orNull(q.by), Interval: orNull(string(q.query.Interval)), Filter: append([]string{}, q.filters...),
		Compare: orNull(q.compare), Sort: sort + ":" + direction, Search: orNull(q.query.Search)}
}

// question reads what a caller asks. Every bad parameter is named at once.
func (a *API) question(r *http.Request, website int64) (*question, error) {
	query := apikit.CallOf(r).Query
	zone, err := a.zone(r, query)
	if err != nil {
		return nil, err
	}
	q := &question{period: readPeriod(query, zone, a.Now()), query: analytics.Query{Website: website, Zone: zone, Totals: true}}
	q.query.From, q.query.To = q.period.start(), q.period.end()
	q.readBy(query)
	q.readMetrics(query)
	q.readFilters(query)
	q.readPage(query)
	q.readSort(query)
	q.query.Search = query.Text("search")
	q.readCompare(query)
	if err := q.query.Check(); err != nil {
		return nil, query.Merge(err)
	}
	return q, query.Bad.OrNil()
}

// readBy reads what rows are made by.
func (q *question) readBy(query apikit.Fields) {
	q.by = query.Text("by")
	interval, series := isInterval(q.by)
	asked, sent := query.Choice("interval", intervalNames(), "must be one of "+strings.Join(intervalNames(), ", "))
	if !series {
		q.query.By = analytics.Dimension(q.by)
		if q.by != "" && !isDimension(q.query.By) {
			query.Bad["by"] = []string{"must be one of " + strings.Join(byNames(), ", ")}
		}
		if sent {
			query.Bad["interval"] = []string{"goes with by=time"}
		}
		return
	}
	q.query.By, q.query.Interval = analytics.ByTime, interval
	switch {
	case interval != "" && sent && asked != q.by:
		query.Bad["interval"] = []string{"must not differ from by"}
	case interval == "":
		q.query.Interval = cmp.Or(analytics.Interval(asked), fitting(q.period.days()))
	}
}

// isInterval says whether rows by a name are steps of time, and of which length; none when the length is left open.
func isInterval(name string) (analytics.Interval, bool) {
	if name == string(analytics.ByTime) {
		return "", true
	}
	return analytics.Interval(name), slices.Contains(analytics.Intervals, analytics.Interval(name))
}

// isDimension says whether rows can be made by a dimension: whether a query by it passes its check.
func isDimension(d analytics.Dimension) bool {
	return analytics.Query{By: d, Metrics: analytics.Metrics, From: time.Unix(0, 0), To: time.Unix(1, 0)}.Check() == nil
}

// byNames lists what rows can be made by.
func byNames() []string {
	names := append([]string{string(analytics.ByTime)}, intervalNames()...)
	for _, dimension := range analytics.Dimensions() {
		names = append(names, string(dimension))
	}
	return append(names, string(analytics.Prop("NAME")))
}

func intervalNames() []string {
	names := make([]string, len(analytics.Intervals))
	for i, interval := range analytics.Intervals {
		names[i] = string(interval)
	}
	return names
}

// fitting is the length of steps that a person would choose for so many days.
func fitting(days int) analytics.Interval {
	switch {
	case days <= 2:
		return analytics.Hour
	case days <= 100:
		return analytics.Day
	default:
		return analytics.Month
	}
}

func (q *question) readMetrics(query apikit.Fields) {
	names, sent := query.List("metrics")
	if !sent {
		q.query.Metrics = []analytics.Metric{analytics.Visitors, analytics.Pageviews}
	}
	for _, name := range names[:min(len(names), 100)] { // more than there are; the check names those that are none
		q.query.Metrics = append(q.query.Metrics, analytics.Metric(name))
	}
}

func (q *question) readFilters(query apikit.Fields) {
	q.filters = slices.DeleteFunc(query.Texts("filter"), func(text string) bool { return text == "" })
	for _, text := range q.filters {
		filter, err := parseFilter(text)
		if err != nil {
			query.Bad["filter"] = []string{err.Error()}
			return
		}
		q.query.Filters = append(q.query.Filters, filter)
	}
}

// comparedRows is how many rows a page may have when each is compared.
const comparedRows = analytics.MaxValues

// readPage reads limit, also spelled per_page, and page. A series is shown whole unless a limit is set.
func (q *question) readPage(query apikit.Fields) {
	most := analytics.MaxRows
	rows := 10
	if q.query.By == analytics.ByTime {
		rows = most
	} else if query.Text("compare") != "" {
		most = comparedRows
	}
	words, allowed := fmt.Sprintf("must be an integer from 1 to %d", most), func(n int) bool { return n >= 1 && n <= most }
	if most == comparedRows {
		words += " when rows are compared"
	}
	rows = query.Number("limit", rows, words, allowed)
	if query.Text("limit") != "" && query.Text("per_page") != "" {
		query.Bad["per_page"] = []string{"is another name of limit: send one of them"}
	} else {
		rows = query.Number("per_page", rows, words, allowed)
	}
	q.page = listing.Request{Page: apikit.PageNumber(query), PerPage: rows}
	q.query.Limit, q.query.Offset = rows, min(q.page.Offset(), analytics.MaxOffset)
}

// readSort reads the order of the rows: a metric (the greatest first) or what rows are made by (from the first on), with :asc or
// :desc for another direction; or the direction alone.
func (q *question) readSort(query apikit.Fields) {
	name, direction := cutDirection(query.Text("sort"))
	ordered := q.query.By == analytics.ByTime
	switch {
	case name == "" && !ordered && len(q.query.Metrics) > 0:
		q.query.Order.Metric = q.query.Metrics[0]
	case name != "" && name != q.by:
		q.query.Order.Metric = analytics.Metric(name)
	}
	q.query.Order.Desc = direction == "desc" || direction == "" && q.query.Order.Metric != ""
	if q.query.Order.Metric != "" && !slices.Contains(q.query.Metrics, q.query.Order.Metric) {
		query.Bad["sort"] = []string{"must be one of the metrics asked for or what by names, with :asc or :desc behind it if you like"}
		q.query.Order = analytics.Order{}
	}
}

// cutDirection finds the direction that an order ends with, if it does. The name before it may hold colons.
func cutDirection(order string) (name, direction string) {
	for _, end := range []string{"asc", "desc"} {
		if order == end {
			return "", end
		}
		if before, found := strings.CutSuffix(order, ":"+end); found && before != "" {
			return before, end
		}
	}
	return order, ""
}

// page asks for one page of rows. One so far on that no query reaches it is empty.
func (a *API) page(ctx context.Context, q analytics.Query, r listing.Request) (analytics.Table, error) {
	table, err := a.Events.Query(ctx, q)
	if r.Offset() > analytics.MaxOffset && q.Offset > 0 {
		table.Rows = nil
	}
	return table, err
}

// counted finds the website of a request, on a server that counts visits.
func (a *API) counted(r *http.Request) (analytics.Website, error) {
	if a.Events == nil {
		return analytics.Website{}, errNoEvents
	}
	return a.find(r)
}

var errNoEvents = apikit.Unavailable("This server keeps no events, so it knows no visits: it runs with --events none, or was built without cgo.")

// A Store is where events rest. It can be made smaller and faster.
type Store interface {
	analytics.Events
	// Compact rewrites what is stored.
	Compact(ctx context.Context) error
}
