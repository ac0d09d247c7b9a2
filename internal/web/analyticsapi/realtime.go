package analyticsapi

import (
	"context"
	"net/http"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/web/apikit"
)

// What "now" means.
const (
	nowTime   = 5 * time.Minute
	chartTime = 30 * time.Minute
	nowRows   = 10 // of the top pages and sources
)

// A nowBody is what takes place on a website now.
type nowBody struct {
	Visitors float64  `json:"visitors"`
	Minutes  []object `json:"minutes"`
	Pages    []object `json:"pages"`
	Sources  []object `json:"sources"`
}

// realtime serves GET /api/v1/websites/{id}/realtime.
func (a *API) realtime(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	now := a.Now().UTC()
	end := now.Truncate(time.Minute).Add(time.Minute) // with the minute that is running
	recent := analytics.Query{Website: site.ID, From: now.Add(-nowTime), To: end, Zone: time.UTC, Metrics: []analytics.Metric{analytics.Visitors}}
	table, err := a.Events.Query(r.Context(), recent)
	if err != nil {
		return err
	}
	body := nowBody{Visitors: table.Rows[0].Metrics[0]}

	chart := recent
	chart.From, chart.By, chart.Interval, chart.Metrics = end.Add(-chartTime), analytics.ByTime, analytics.Minute, []analytics.Metric{analytics.Pageviews}
	if body.Minutes, err = a.rowsBy(r.Context(), "minute", chart); err != nil {
		return err
	}
	recent.Limit, recent.Order = nowRows, analytics.Order{Metric: analytics.Visitors, Desc: true}
	recent.By = analytics.BySource
	if body.Sources, err = a.rowsBy(r.Context(), "source", recent); err != nil {
		return err
	}
	recent.By, recent.Metrics = analytics.ByPage, []analytics.Metric{analytics.Visitors, analytics.Pageviews}
	if body.Pages, err = a.rowsBy(r.Context(), "page", recent); err != nil {
		return err
	}
	return apikit.Record(http.StatusOK, "", body).Write(w, r)
}

// rowsBy is the rows of a query as answers show them, under a name.
func (a *API) rowsBy(ctx context.Context, by string, query analytics.Query) ([]object, error) {
	table, err := a.Events.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return (&question{query: query, by: by}).rows(table.Rows), nil
}
