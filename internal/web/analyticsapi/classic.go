package analyticsapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/web/apikit"
)

var classicQuery = append([]string{"name", "from", "to", "timezone"}, apikit.ListQuery...)

// A classicStat is one list of the older interface: what its rows are made by and what they count. Values that it writes in its
// own way have a function; such lists are short, and are sorted and cut here.
type classicStat struct {
	by       analytics.Dimension
	interval analytics.Interval
	count    analytics.Metric
	show     func(analytics.Row) string
}

var classicStats = map[string]classicStat{
	"browser":        {by: analytics.ByBrowser, count: analytics.Visitors},
	"campaign":       {by: analytics.ByUTMCampaign, count: analytics.Visitors},
	"city":           {by: analytics.ByCity, count: analytics.Visitors},
	"continent":      {by: analytics.ByContinent, count: analytics.Visitors, show: continentText},
	"country":        {by: analytics.ByCountry, count: analytics.Visitors, show: countryText},
	"device":         {by: analytics.ByDevice, count: analytics.Visitors},
	"event":          {by: analytics.ByEvent, count: analytics.CustomEvents},
	"landing_page":   {by: analytics.ByEntryPage, count: analytics.Visitors},
	"language":       {by: analytics.ByLanguage, count: analytics.Visitors, show: languageText},
	"os":             {by: analytics.ByOS, count: analytics.Visitors},
	"page":           {by: analytics.ByPage, count: analytics.Pageviews},
	"pageviews":      {by: analytics.ByTime, interval: analytics.Day, count: analytics.Pageviews, show: dayText},
	"pageviews_hour": {by: analytics.ByTime, interval: analytics.Hour, count: analytics.Pageviews, show: hourText},
	"referrer":       {by: analytics.ByReferrer, count: analytics.Visitors},
	"resolution":     {by: analytics.ByScreen, count: analytics.Visitors},
	"visitors":       {by: analytics.ByTime, interval: analytics.Day, count: analytics.Visitors, show: dayText},
	"visitors_hour":  {by: analytics.ByTime, interval: analytics.Hour, count: analytics.Visitors, show: hourText},
}

func continentText(row analytics.Row) string {
	return coded(row.Value, analytics.ContinentName(row.Value))
}

func countryText(row analytics.Row) string {
	country, _ := analytics.CountryOf(row.Value)
	return coded(row.Value, country.Name)
}

// coded is a code with its name, if it has one.
func coded(code, name string) string {
	if name == "" {
		return code
	}
	return code + ":" + name
}

// languageText is the two letters that a language begins with.
func languageText(row analytics.Row) string {
	language, _, _ := strings.Cut(row.Value, "-")
	return strings.ToLower(language)
}

func dayText(row analytics.Row) string  { return row.Time.Format(time.DateOnly) }
func hourText(row analytics.Row) string { return row.Time.Format("15") }

var classicList = apikit.List{
	SearchBy:     []string{"value"},
	SortBy:       []string{"count", "value"},
	Desc:         true,
	PerPage:      tenToHundred(),
	PerPageWords: "must be an integer from 10 to 100",
}

// classic serves GET /api/v1/stats/{id}, as clients of the older interface know it.
func (a *API) classic(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	names := slices.Sorted(maps.Keys(classicStats))
	words := "must be one of " + strings.Join(names, ", ")
	name, sent := query.Choice("name", names, words)
	if !sent {
		query.Bad["name"] = []string{words}
	}
	zone, err := a.zone(r, query)
	if err != nil {
		return err
	}
	stat, days := classicStats[name], readPeriod(query, zone, a.Now())
	if most := analytics.MaxSteps / 25; stat.interval == analytics.Hour && days.days() > most || days.days() > analytics.MaxSteps {
		query.Bad["from"] = []string{fmt.Sprintf("must be at most %d days before to for hours, and %d for others", most, analytics.MaxSteps)}
	}
	request, err := classicList.Request(r) // names every parameter that is bad
	if err != nil {
		return err
	}
	page, err := a.classicPage(r.Context(), stat, request, analytics.Query{Website: site.ID, From: days.start(), To: days.end(), Zone: zone})
	if err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, newPaginator(a.Base, r, request, page))
}

// A countedValue is a row of a classic list.
type countedValue struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// classicPage reads one page of a list.
func (a *API) classicPage(ctx context.Context, stat classicStat, r listing.Request, q analytics.Query) (listing.Page[countedValue], error) {
	q.By, q.Interval, q.Metrics = stat.by, stat.interval, []analytics.Metric{stat.count}
	show := stat.show
	if show == nil {
		show = func(row analytics.Row) string { return row.Value }
		q.Search, q.Limit, q.Offset, q.Order.Desc = r.Search, r.PerPage, min(r.Offset(), analytics.MaxOffset), r.Desc
		if r.SortBy == "count" {
			q.Order.Metric = stat.count
		}
	}
	table, err := a.page(ctx, q, r)
	if err != nil {
		return listing.Page[countedValue]{}, err
	}
	rows := make([]countedValue, len(table.Rows))
	for i, row := range table.Rows {
		rows[i] = countedValue{show(row), int64(row.Metrics[0])}
	}
	if stat.show != nil {
		return shortPage(rows, r), nil
	}
	return listing.Page[countedValue]{Items: rows, Total: table.Total}, nil
}

// shortPage joins the rows of a whole list that are about the same, and searches, sorts and cuts it. What counts nothing has no
// row.
func shortPage(rows []countedValue, r listing.Request) listing.Page[countedValue] {
	counts := map[string]int64{}
	for _, row := range rows {
		counts[row.Value] += row.Count
	}
	found, list := listing.Fold(r.Search), []countedValue{}
	for value, count := range counts {
		if count > 0 && strings.Contains(listing.Fold(value), found) {
			list = append(list, countedValue{value, count})
		}
	}
	slices.SortFunc(list, func(a, b countedValue) int {
		first, second := a, b
		if r.Desc {
			first, second = b, a
		}
		if r.SortBy == "value" {
			return strings.Compare(first.Value, second.Value)
		}
		return cmp.Or(cmp.Compare(first.Count, second.Count), strings.Compare(a.Value, b.Value))
	})
	from := min(r.Offset(), len(list))
	return listing.Page[countedValue]{Items: list[from:min(from+r.PerPage, len(list))], Total: len(list)}
}

// A paginator is a page of a list in the older form.
type paginator struct {
	CurrentPage  int            `json:"current_page"`
	Data         []countedValue `json:"data"`
	FirstPageURL *string        `json:"first_page_url"`
	From         *int           `json:"from"`
	LastPage     int            `json:"last_page"`
	LastPageURL  *string        `json:"last_page_url"`
	NextPageURL  *string        `json:"next_page_url"`
	Path         string         `json:"path"`
	PerPage      int            `json:"per_page"`
	PrevPageURL  *string        `json:"prev_page_url"`
	To           *int           `json:"to"`
	Total        int            `json:"total"`
	Status       int            `json:"status"`
}

func newPaginator(base string, r *http.Request, request listing.Request, page listing.Page[countedValue]) paginator {
	links, meta := apikit.Pages(r, base, request, len(page.Items), page.Total)
	return paginator{CurrentPage: meta.CurrentPage, Data: page.Items, FirstPageURL: links.First, From: meta.From, LastPage: meta.LastPage,
		LastPageURL: links.Last, NextPageURL: links.Next, Path: meta.Path, PerPage: meta.PerPage, PrevPageURL: links.Prev, To: meta.To,
		Total: meta.Total, Status: http.StatusOK}
}
