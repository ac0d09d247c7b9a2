package analyticsapi

import (
	"net/http"
	"time"

	"sightline/internal/web/apikit"
)

// exclusions serves GET /api/v1/websites/{id}/exclusions: what was left out, by days of UTC.
func (a *API) exclusions(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	days := readPeriod(query, time.UTC, a.Now())
	if err := query.Bad.OrNil(); err != nil {
		return err
	}
	ledger, err := a.Events.Exclusions(r.Context(), site.ID, days.start(), days.end())
	if err != nil {
		return err
	}
	type countJSON struct {
		Date   string `json:"date"`
		Reason string `json:"reason"`
		Events int64  `json:"events"`
	}
	type sampleJSON struct {
		At     *string `json:"at"`
		Reason string  `json:"reason"`
		Page   string  `json:"page"`
		Agent  string  `json:"agent"`
	}
	body := struct {
		Data    []countJSON  `json:"data"`
		Samples []sampleJSON `json:"samples"`
		Status  int          `json:"status"`
	}{[]countJSON{}, []sampleJSON{}, http.StatusOK}
	for _, day := range ledger.Days {
		body.Data = append(body.Data, countJSON{day.Day.Format(time.DateOnly), day.Reason, day.Events})
	}
	for _, drop := range ledger.Samples {
		body.Samples = append(body.Samples, sampleJSON{apikit.Time(drop.At), drop.Reason, drop.Page, drop.Agent})
	}
	return apikit.Write(w, http.StatusOK, body)
}
