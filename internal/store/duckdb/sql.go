//go:build cgo

package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"sightline/internal/analytics"
)

// A rendering turns one query into SQL. What callers sent goes into args and never into the text.
type rendering struct {
	query analytics.Query
	code  string // the function that makes a number of a text, so that the engine compares numbers; none compares the texts
	args  []any
}

// arg adds an argument and is the place for it.
func (r *rendering) arg(value any) string {
	r.args = append(r.args, value)
	return fmt.Sprintf("$%d", len(r.args))
}

func (r *rendering) wants(metrics ...analytics.Metric) bool {
	return slices.ContainsFunc(metrics, func(m analytics.Metric) bool { return slices.Contains(r.query.Metrics, m) })
}

// grouped says whether there is a row for each value.
func (r *rendering) grouped() bool { return r.query.By != analytics.None }

// how says whether the query asks how visits went.
func (r *rendering) how() bool {
	return r.wants(analytics.ViewsPerVisit, analytics.BounceRate, analytics.VisitDuration)
}

// paged says whether the query looks at the pages of whole visits.
func (r *rendering) paged() bool {
	return r.query.By.OfVisit() || slices.ContainsFunc(r.query.Filters, func(f analytics.Filter) bool { return f.Dimension.OfVisit() })
}

// coded says whether rows are made by a number for each text: it is quicker to count different visitors by it.
func (r *rendering) coded() bool {
	return r.code != "" && slices.Contains(longTexts, r.query.By) && !r.paged()
}

// longTexts are the dimensions with many or long values, each a column.
var longTexts = []analytics.Dimension{analytics.ByPage, analytics.ByReferrer, analytics.ByHostname,
	analytics.ByUTMCampaign, analytics.ByUTMContent, analytics.ByUTMTerm}

// render is the whole statement: value, metrics, number of rows, number of texts that share their code with another one.
func (r *rendering) render() string {
	parts := []string{r.ranged()}
	if r.how() || r.paged() {
		parts = append(parts, r.visits())
	}
	parts = append(parts, r.matched(), r.counted())
	from, value, clashes := "counted", "counted.value", "0"
	if r.coded() {
		parts = append(parts, r.texts())
		from += " JOIN texts ON counted.value = texts.code"
		value, clashes = "texts.value", "(SELECT count(*) - count(DISTINCT code) FROM texts)"
	}
	if r.how() {
		parts = append(parts, r.visited())
		from += r.join("visited")
	}
	if r.wants(analytics.ScrollDepth) {
		parts = append(parts, r.scrolled())
		from += r.join("scrolled")
	}
	columns := []string{value + " AS value"}
	for i, metric := range r.query.Metrics {
		columns = append(columns, fmt.Sprintf("coalesce(%s, 0)::DOUBLE AS m%d", metricSQL[metric], i))
	}
	return "WITH " + strings.Join(parts, ",\n") + "\nSELECT " + strings.Join(append(columns, "count(*) OVER () AS total", clashes+" AS clashes"), ", ") +
		"\nFROM " + from + r.page()
}

// ranged is the website's events in the range. It is not stored in between: each use reads only its own columns.
func (r *rendering) ranged() string {
	return "ranged AS NOT MATERIALIZED (SELECT *, rowid FROM events WHERE website = " + r.arg(r.query.Website) +
		" AND ms >= " + r.arg(ceilMilli(r.query.From)) + " AND ms < " + r.arg(ceilMilli(r.query.To)) + ")"
}

// visits is how each visit went in the range.
func (r *rendering) visits() string {
	columns := []string{"visit"}
	if r.how() {
		columns = append(columns, "sum((kind = 1)::DOUBLE) AS views", "sum((kind = 2)::DOUBLE) AS customs", // faster than to count them
			"max(ms) - min(ms) AS length", "sum(engagement::DOUBLE) AS engagement")
	}
	if r.paged() { // of page views at the same time the first is the one that arrived first
		const arrival = "ms::HUGEINT * 4611686018427387904 + rowid"
		columns = append(columns, "coalesce(arg_min(page, "+arrival+") FILTER (kind = 1), '') AS entry_page",
			"coalesce(arg_max(page, "+arrival+") FILTER (kind = 1), '') AS exit_page")
	}
	stored := "NOT MATERIALIZED"
	if r.how() && r.paged() { // it is read twice
		stored = "MATERIALIZED"
	}
	return "visits AS " + stored + " (SELECT " + strings.Join(columns, ", ") + " FROM ranged GROUP BY visit)"
}

// matched is the matching events with their values.
func (r *rendering) matched() string {
	value := r.value() + " AS value"
	if r.coded() {
		value = r.value() + " AS text, " + r.code + "(text) AS value"
	}
	text := "matched AS NOT MATERIALIZED (SELECT " + value + ", visitor, visit, kind, amount, page, depth FROM ranged"
	if r.paged() {
		text += " JOIN visits USING (visit)"
	}
	var conditions []string
	for _, filter := range r.query.Filters {
		conditions = append(conditions, r.condition(filter))
	}
	if by := r.query.By; r.grouped() && by != analytics.ByTime && !by.KeepsEmpty() {
		conditions = append(conditions, r.column(by)+" <> ''")
	}
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	return text + ")"
}

// value is what rows are made by.
func (r *rendering) value() string {
	switch r.query.By {
	case analytics.None:
		return "''"
	case analytics.ByTime:
		return r.step()
	}
	return r.column(r.query.By)
}

// step is the index of the step in which an event lies.
func (r *rendering) step() string {
	text, stretches := "CASE", r.query.Stretches()
	for i, s := range stretches {
		index := fmt.Sprintf("%d + (ms - %d) // %d", s.First, s.From.UnixMilli(), s.Step.Milliseconds())
		switch {
		case len(stretches) == 1:
			return index
		case i == len(stretches)-1:
			text += " ELSE " + index
		default:
			text += fmt.Sprintf(" WHEN ms < %d THEN %s", s.To.UnixMilli(), index)
		}
	}
	return text + " END"
}

// column is the value of a dimension. A dimension that is not in the table has a column of its name.
func (r *rendering) column(d analytics.Dimension) string {
	if name, ok := d.Prop(); ok {
		return "coalesce(map_extract_value(props, " + r.arg(name) + "), '')"
	}
	if expression, ok := dimensionSQL[d]; ok {
		return expression
	}
	return string(d)
}

var dimensionSQL = map[analytics.Dimension]string{
	analytics.ByRegion:         "CASE WHEN region = '' THEN '' ELSE country || ':' || region END",
	analytics.ByCity:           "CASE WHEN city = '' THEN '' ELSE country || ':' || city || CASE WHEN region = '' THEN '' ELSE ', ' || region END END",
	analytics.ByContinent:      continentSQL(),
	analytics.ByBrowserVersion: "CASE WHEN browser_version = '' THEN '' ELSE browser || ' ' || browser_version END",
	analytics.ByOSVersion:      "CASE WHEN os_version = '' THEN '' ELSE os || ' ' || os_version END",
	analytics.ByEvent:          "CASE WHEN kind = 2 THEN name ELSE '' END",
}

// continentSQL tells the continent of a country.
func continentSQL() string {
	members := map[string][]string{}
	for _, country := range analytics.Countries {
		members[country.Continent] = append(members[country.Continent], "'"+country.Code+"'")
	}
	text := "CASE"
	for _, continent := range []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"} {
		text += " WHEN country IN (" + strings.Join(members[continent], ", ") + ") THEN '" + continent + "'"
	}
	return text + " ELSE '' END"
}

// condition is a filter.
func (r *rendering) condition(f analytics.Filter) string {
	column := "(" + r.column(f.Dimension) + ")"
	parts := make([]string, len(f.Values))
	for i, value := range f.Values {
		switch f.Op {
		case analytics.Contains:
			parts[i] = "contains(" + column + ", " + r.arg(value) + ")"
		case analytics.Matches:
			parts[i] = column + " LIKE " + r.arg(likePattern.Replace(value)) + ` ESCAPE '\'`
		default:
			parts[i] = r.arg(value)
		}
	}
	switch f.Op {
	case analytics.Is:
		return column + " IN (" + strings.Join(parts, ", ") + ")"
	case analytics.IsNot:
		return column + " NOT IN (" + strings.Join(parts, ", ") + ")"
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// likePattern makes a pattern of LIKE from one with stars.
var likePattern = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`, "*", "%")

// counted is the metrics that events are counted for.
func (r *rendering) counted() string {
	columns := []string{r.valueOrNone()}
	if r.wants(analytics.Visitors) {
		columns = append(columns, "count(DISTINCT visitor) AS visitors")
	}
	if r.wants(analytics.Visits) && !r.how() {
		columns = append(columns, "count(DISTINCT visit) AS visits")
	}
	columns = append(columns, "countif(kind = 1) AS pageviews")
	if r.wants(analytics.CustomEvents) {
		columns = append(columns, "countif(kind = 2) AS customs")
	}
	if r.wants(analytics.EventValue) {
		columns = append(columns, "sum(amount) FILTER (kind = 2) AS amount")
	}
	return "counted AS (SELECT " + strings.Join(columns, ", ") + " FROM matched WHERE kind <> 3" + r.group() + ")"
}

// texts is the text of each code.
func (r *rendering) texts() string {
	return "texts AS MATERIALIZED (SELECT text AS value, " + r.code + "(text) AS code FROM (SELECT DISTINCT text FROM matched WHERE kind <> 3))"
}

// visited adds up how the visits went that have a matching event.
func (r *rendering) visited() string {
	from := "(SELECT DISTINCT value, visit FROM matched WHERE kind <> 3) JOIN visits USING (visit)"
	if !r.grouped() && len(r.query.Filters) == 0 {
		from = "(SELECT '' AS value, * FROM visits WHERE views + customs > 0)"
	}
	return "visited AS (SELECT " + r.valueOrNone() + ", count(*) AS visits, sum(views) AS views, sum(length) AS length, " +
		fmt.Sprintf("count(*) FILTER (views = 1 AND customs = 0 AND engagement < %d) AS bounces", analytics.BounceEngagement.Milliseconds()) +
		" FROM " + from + r.group() + ")"
}

// scrolled adds up how far each visit scrolled each page.
func (r *rendering) scrolled() string {
	return "scrolled AS (SELECT " + r.valueOrNone() + ", sum(depth) AS depth, count(*) AS depths" +
		" FROM (SELECT value, visit, page, max(depth) AS depth FROM matched WHERE depth > 0 GROUP BY value, visit, page)" + r.group() + ")"
}

func (r *rendering) valueOrNone() string {
	if r.grouped() {
		return "value"
	}
	return "'' AS value"
}

func (r *rendering) group() string {
	if r.grouped() {
		return " GROUP BY value"
	}
	return ""
}

func (r *rendering) join(table string) string {
	return " LEFT JOIN " + table + " ON counted.value = " + table + ".value"
}

// metricSQL is each metric over the joined parts.
var metricSQL = map[analytics.Metric]string{
	analytics.Visitors:      "visitors",
	analytics.Visits:        "visits",
	analytics.Pageviews:     "pageviews",
	analytics.ViewsPerVisit: "views::DOUBLE / nullif(visits, 0)",
	analytics.BounceRate:    "bounces * 100::DOUBLE / nullif(visits, 0)",
	analytics.VisitDuration: "length::DOUBLE / nullif(visits, 0) / 1000",
	analytics.CustomEvents:  "customs",
	analytics.EventValue:    "amount",
	analytics.ScrollDepth:   "depth::DOUBLE / nullif(depths, 0)",
}

// page sorts the rows and cuts the page out of them. Steps of a series are sorted when they are all there, and rows that are
// searched when they were found.
func (r *rendering) page() string {
	q := r.query
	if !r.grouped() || q.By == analytics.ByTime {
		return ""
	}
	direction := ""
	if q.Order.Desc {
		direction = " DESC"
	}
	text := "\nORDER BY value" + direction
	if i := slices.Index(q.Metrics, q.Order.Metric); i >= 0 {
		text = fmt.Sprintf("\nORDER BY m%d%s, value", i, direction)
	}
	if q.Search != "" {
		return text
	}
	return text + fmt.Sprintf(" LIMIT %d OFFSET %d", q.Rows(), q.Offset)
}
