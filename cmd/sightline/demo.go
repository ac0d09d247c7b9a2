package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sightline/internal/access"
	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
)

// demoPassword opens the stats pages of the example websites with privacy 2.
const demoPassword = "look-inside"

// fillDemo fills an empty account with examples, with their visits where events are kept. An account that has a project or a
// website is left as it is.
func fillDemo(ctx context.Context, catalog store.Catalog, events eventTarget, account int64, now time.Time) error {
	empty, err := isEmpty(ctx, catalog, account)
	if err != nil || !empty {
		return err
	}
	for _, example := range demoProjects {
		project := seo.NewProject(account, daysAgo(now, example.age))
		if err := project.SetName(example.name); err != nil {
			return fmt.Errorf("example project %s: %w", example.name, err)
		}
		err := catalog.CreateProject(ctx, &project, nil)
		if errors.Is(err, seo.ErrNameTaken) {
			continue // another server on the same database fills it too
		}
		if err != nil {
			return fmt.Errorf("example project %s: %w", example.name, err)
		}
		if err := example.audit(ctx, catalog, account, now); err != nil {
			return fmt.Errorf("example report of %s: %w", example.name, err)
		}
	}
	password, err := access.HashPassword(ctx, demoPassword, "")
	if err != nil {
		return err
	}
	var websites []analytics.Website
	for _, example := range demoWebsites {
		site := analytics.NewWebsite(account, daysAgo(now, example.age))
		if err := site.Apply(example.fill(password)); err != nil {
			return fmt.Errorf("example website %s: %w", example.url, err)
		}
		if err := catalog.CreateWebsite(ctx, &site, nil); err != nil {
			return fmt.Errorf("example website %s: %w", example.url, err)
		}
		websites = append(websites, site)
	}
	if events == nil {
		return nil
	}
	return fillTraffic(ctx, events, websites, now)
}

// audit has the site of a project audited, if it has one: the program serves the example sites to itself.
func (d demoProject) audit(ctx context.Context, catalog store.Catalog, account int64, now time.Time) error {
	if !d.hasSite() {
		return nil
	}
	report := seo.NewReport(account, now)
	if err := report.SetURL("https://" + d.name + "/"); err != nil {
		return err
	}
	report.SetScope(seo.ScopeSite)
	return catalog.CreateReport(ctx, &report, nil)
}

// isEmpty says whether an account has neither projects nor websites.
func isEmpty(ctx context.Context, catalog store.Catalog, account int64) (bool, error) {
	projects, err := catalog.Projects(ctx, account, listing.Request{SearchBy: seo.SearchByProject, SortBy: seo.SortByCreated, Page: 1, PerPage: 1})
	if err != nil || projects.Total > 0 {
		return false, err
	}
	websites, err := catalog.Websites(ctx, account, listing.Request{SearchBy: analytics.SearchByURL, SortBy: analytics.SortByCreated, Page: 1, PerPage: 1})
	return websites.Total == 0, err
}

// daysAgo is a moment on an earlier day, at another time of day for each.
func daysAgo(now time.Time, days int) time.Time {
	return now.AddDate(0, 0, -days).Add(-time.Duration(days*37%600) * time.Minute)
}

// A demoProject is an example. Its age is in days.
type demoProject struct {
	age  int
	name string
}

// demoProjects are sites of an agency's clients, oldest first, under names that belong to nobody.
var demoProjects = []demoProject{
	{362, "juniper-agency.example"},
	{351, "blog.juniper-agency.example"},
	{339, "harbour-coffee.example"},
	{327, "shop.harbour-coffee.example"},
	{318, "oakandiron-furniture.example"},
	{304, "bäckerei-sonne.example"},
	{291, "northwind-outdoor.example"},
	{283, "Relaunch projects"},
	{270, "the-slow-kitchen.example"},
	{262, "riverside-dental.example"},
	{249, "tiny-telescopes.example"},
	{233, "docs.paperboat-software.example"},
	{221, "paperboat-software.example"},
	{208, "café-montagne.example"},
	{197, "greenbelt-cycling.example.org"},
	{181, "museum-of-clocks.example.org"},
	{170, "lanternfish-games.example"},
	{158, "second-shelf-books.example.com"},
	{143, "maple-street-yoga.example"},
	{131, "кофейня-весна.example"},
	{118, "wildflower-seeds.example.net"},
	{104, "city-choir.example.org"},
	{91, "steinweg-architekten.example"},
	{77, "staging.northwind-outdoor.test"},
	{62, "quietfan-computers.example"},
	{48, "Spring campaign 2026"},
	{33, "letterpress-cards.example"},
	{19, "東京散歩.example"},
	{7, "localhost:9000"},
	{1, "orchard-cider.example"},
}

// A demoWebsite is an example. Its age is in days; the zero values are the defaults of a website.
type demoWebsite struct {
	age      int
	url      string
	public   bool
	password bool // stats pages open with demoPassword
	email    bool
	bots     bool // visits of bots count
	params   string
	ips      string
}

// fill gives a website what the example says. Those with a password share one hash: hashing is slow on purpose.
func (d demoWebsite) fill(passwordHash string) func(*analytics.Website) error {
	return func(w *analytics.Website) error {
		switch {
		case d.public:
			w.Privacy = access.Public
		case d.password:
			w.Privacy, w.PasswordHash = access.Password, passwordHash
		}
		w.Email, w.ExcludeBots = d.email, !d.bots
		w.ExcludeParams, w.ExcludeIPs = d.params, d.ips
		return w.SetURL(d.url)
	}
}

// What many of the examples leave out of their statistics.
const (
	campaignParams = "utm_*, fbclid, gclid"
	officeIPs      = "192.0.2.10, 192.0.2.16/28"
)

// demoWebsites are the sites of the same clients, oldest first. Addresses are from the ranges kept for documentation.
var demoWebsites = []demoWebsite{
	{age: 360, url: "https://www.juniper-agency.example", email: true, params: campaignParams, ips: officeIPs},
	{age: 350, url: "https://blog.juniper-agency.example", public: true, params: campaignParams, ips: officeIPs},
	{age: 337, url: "https://harbour-coffee.example", email: true, params: campaignParams},
	{age: 326, url: "https://shop.harbour-coffee.example", email: true, params: "utm_*, fbclid, session, cart_*"},
	{age: 317, url: "https://www.oakandiron-furniture.example", password: true},
	{age: 303, url: "https://bäckerei-sonne.example", public: true},
	{age: 290, url: "https://www.northwind-outdoor.example", email: true, params: campaignParams, ips: "198.51.100.0/24"},
	{age: 281, url: "https://www.northwind-outdoor.example/fr/", params: campaignParams, ips: "198.51.100.0/24"},
	{age: 269, url: "https://the-slow-kitchen.example", public: true, bots: true},
	{age: 260, url: "https://riverside-dental.example", password: true, params: "&", ips: "203.0.113.7"},
	{age: 248, url: "https://tiny-telescopes.example"},
	{age: 232, url: "https://docs.paperboat-software.example", public: true, bots: true, ips: "2001:db8:40::/48"},
	{age: 220, url: "https://paperboat-software.example", email: true, params: campaignParams, ips: "2001:db8:40::/48, 192.0.2.200"},
	{age: 219, url: "https://app.paperboat-software.example", params: "token, invite", ips: "2001:db8:40::/48, 192.0.2.200"},
	{age: 206, url: "https://café-montagne.example"},
	{age: 196, url: "https://greenbelt-cycling.example.org", public: true},
	{age: 180, url: "https://museum-of-clocks.example.org", public: true, email: true},
	{age: 168, url: "https://lanternfish-games.example", params: "ref, utm_*"},
	{age: 157, url: "https://second-shelf-books.example.com", password: true, email: true, params: "utm_*\nfbclid\naffiliate"},
	{age: 142, url: "https://maple-street-yoga.example"},
	{age: 130, url: "https://кофейня-весна.example", public: true},
	{age: 117, url: "https://wildflower-seeds.example.net", params: campaignParams, ips: "203.0.113.*"},
	{age: 103, url: "https://city-choir.example.org", password: true},
	{age: 90, url: "https://www.steinweg-architekten.example", email: true},
	{age: 76, url: "http://staging.northwind-outdoor.test:8080", bots: true, ips: "198.51.100.0/24, 2001:db8::/32"},
	{age: 61, url: "https://quietfan-computers.example", params: campaignParams},
	{age: 47, url: "https://spring.harbour-coffee.example/2026", params: campaignParams},
	{age: 32, url: "https://letterpress-cards.example", public: true, email: true},
	{age: 18, url: "https://東京散歩.example", public: true},
	{age: 1, url: "https://orchard-cider.example", email: true, ips: "192.0.2.44"},
}
