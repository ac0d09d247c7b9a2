package analyticsapi

import (
	"errors"
	"fmt"
	"net/http"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

// The limits of a bulk change.
const (
	maxEntries   = 1000
	maxPasswords = 50 // hashing one takes long on purpose
)

// A bulk is a change of many websites.
type bulk struct {
	entries []entry
	bad     fault.Invalid
	created map[*analytics.Website]bool
	counts  struct{ created, updated, unchanged int }
}

// An entry is one website of a bulk change.
type entry struct {
	domain string // empty when the url is bad
	change func(*analytics.Website) error
	result *analytics.Website
}

// errDryRun ends the transaction of a bulk change that is only tried.
var errDryRun = errors.New("dry run")

// apply serves PUT /api/v1/bulk/websites: it creates what is missing and updates the rest, matched by domain.
func (a *API) apply(w http.ResponseWriter, r *http.Request) error {
	call := apikit.CallOf(r)
	dry, _ := call.Query.Choice("dry_run", []string{"0", "1"}, "must be 0 or 1")
	b := bulk{bad: call.Query.Bad, created: map[*analytics.Website]bool{}}
	if err := b.read(r, a.Websites); err != nil {
		return err
	}
	domains := make([]string, 0, len(b.entries))
	for _, e := range b.entries {
		if e.domain != "" {
			domains = append(domains, e.domain)
		}
	}
	err := a.Bulk.ApplyWebsites(r.Context(), apikit.Account(r), domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		wanted, err := b.decide(a, r, found)
		if err == nil && dry == "1" {
			err = errDryRun
		}
		return wanted, err
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return err
	}
	return b.answer(w, dry == "1")
}

// read reads the entries. A password that the website has already is not hashed anew, so that the same array changes
// nothing the second time.
func (b *bulk) read(r *http.Request, websites analytics.Websites) error {
	many := apikit.CallOf(r).Many
	if len(many) > maxEntries {
		return fault.Field("websites", fmt.Sprintf("must be at most %d, not %d", maxEntries, len(many)))
	}
	first := map[string]int{}
	passwords := 0
	for i, body := range many {
		var e entry
		var named analytics.Website
		if address, _ := addressOf(body); named.SetURL(address) == nil {
			e.domain = named.Domain
		}
		if twin, twice := first[e.domain]; twice && e.domain != "" {
			body.Bad.Add("url", fmt.Sprintf("has the same domain as entry %d", twin))
		}
		first[e.domain] = i
		known := ""
		if body.Text("password") != "" {
			if passwords++; passwords > maxPasswords {
				return fault.Field(fmt.Sprintf("%d.password", i), fmt.Sprintf("is one of more than %d: send the rest in another request", maxPasswords))
			}
			site, err := oldest(r, websites, e.domain)
			if err != nil {
				return err
			}
			known = site.PasswordHash
		}
		var err error
		if e.change, err = change(r.Context(), body, known); err != nil {
			return err
		}
		b.entries = append(b.entries, e)
	}
	return nil
}

// oldest reads the oldest website of a domain; the zero website when there is none.
func oldest(r *http.Request, websites analytics.Websites, domain string) (analytics.Website, error) {
	id, err := websites.OldestWebsite(r.Context(), apikit.Account(r), domain)
	var site analytics.Website
	if err == nil {
		site, err = websites.Website(r.Context(), apikit.Account(r), id)
	}
	if errors.Is(err, fault.NotFound) {
		err = nil
	}
	return site, err
}

// decide says what to store, given what is there. It may run again, and then starts anew.
func (b *bulk) decide(a *API, r *http.Request, found map[string]analytics.Website) ([]*analytics.Website, error) {
	bad := fault.Invalid{}
	clear(b.created)
	b.counts.created, b.counts.updated, b.counts.unchanged = 0, 0, 0
	var wanted []*analytics.Website
	for i := range b.entries {
		e := &b.entries[i]
		site, exists := found[e.domain]
		var err error
		if exists {
			version := site.Version
			err = site.Edit(a.Now(), e.change)
			if site.Version == version {
				b.counts.unchanged++
			} else {
				b.counts.updated++
			}
		} else {
			site = analytics.NewWebsite(apikit.Account(r), a.Now())
			err = site.Apply(e.change)
			b.created[&site] = true
			b.counts.created++
		}
		var invalid fault.Invalid
		if errors.As(err, &invalid) {
			for field, texts := range invalid {
				bad[fmt.Sprintf("%d.%s", i, field)] = texts
			}
		} else if err != nil {
			return nil, err
		}
		e.result = &site
		wanted = append(wanted, &site)
	}
	if err := b.bad.OrNil(); err != nil {
		bad.Merge(err)
	}
	return wanted, bad.OrNil()
}

// answer writes the records in the order in which they were sent. In a dry run those that would be created have no id.
func (b *bulk) answer(w http.ResponseWriter, dry bool) error {
	body := struct {
		Data      []websiteJSON `json:"data"`
		Created   int           `json:"created"`
		Updated   int           `json:"updated"`
		Unchanged int           `json:"unchanged"`
		Status    int           `json:"status"`
	}{make([]websiteJSON, len(b.entries)), b.counts.created, b.counts.updated, b.counts.unchanged, http.StatusOK}
	for i, e := range b.entries {
		if body.Data[i] = toJSON(*e.result); dry && b.created[e.result] {
			body.Data[i].ID, body.Data[i].TrackingID = nil, nil
		}
	}
	return apikit.Write(w, http.StatusOK, body)
}
