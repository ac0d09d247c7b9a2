package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"sightline/internal/account"
	"sightline/internal/audit"
	"sightline/internal/config"
	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
	"sightline/internal/schedule"
	"sightline/internal/store"
	"sightline/internal/web"
	"sightline/internal/web/apikit"
	"sightline/internal/web/origin"
)

// drainNotice is how long callers and balancers are told by 503 that the server stops, before it does.
const drainNotice = 500 * time.Millisecond

// flushTime is how often the times at which keys were last used are written.
const flushTime = 10 * time.Second

// ServeCmd is sightline serve.
type ServeCmd struct {
	config.Serve
}

// Run serves both areas until ctx ends.
func (c *ServeCmd) Run(ctx context.Context, term *terminal) error {
	settings, err := c.settings()
	if err != nil {
		return err
	}
	seo := &web.Place{URL: settings.SEOURL, Listen: settings.SEOListen}
	analytics := &web.Place{URL: settings.AnalyticsURL, Listen: settings.AnalyticsListen}
	doors, err := web.Listen(seo, analytics)
	if err != nil {
		return err
	}
	meter, doors, err := listenAdmin(&settings, doors)
	if err != nil {
		return errors.Join(err, web.CloseDoors(doors))
	}
	catalog, err := openCatalog(ctx, settings, meter)
	if err != nil {
		return errors.Join(err, web.CloseDoors(doors))
	}
	log := newLogger(term.stderr, settings.LogFormat, settings.LogLevel)
	gate := account.NewGate(catalog, term.now)
	server := &web.Server{SEO: seo, Analytics: analytics, Catalog: catalog, Gate: gate, TrashKept: settings.TrashKept,
		Proxies: origin.Proxies{Trusted: settings.TrustedProxies, Header: settings.ClientHeader},
		Version: buildVersion(), Now: term.now, Log: log, Notice: drainNotice}
	if meter != nil {
		server.Meter = meter
	}
	if settings.RateLimit > 0 {
		server.Limit = apikit.NewRateLimit(settings.RateLimit)
	}
	queue, client := newQueue(settings, catalog, term.now, log)
	defer client.Close()
	server.Wake = queue.Wake
	counting, err := openCounting(ctx, settings, catalog, term.now, log)
	if err != nil {
		return errors.Join(err, web.CloseDoors(doors), catalog.Close())
	}
	counting.serve(server)
	if err := welcome(ctx, term, settings, catalog, counting, log); err != nil {
		return errors.Join(err, web.CloseDoors(doors), counting.close(ctx), catalog.Close())
	}

	clock := &schedule.Clock{Trash: catalog, Receipts: catalog, Leftovers: catalog, Erasures: catalog, Turns: catalog, Kept: settings.TrashKept, Now: term.now, Log: log}
	if counting.events != nil {
		clock.Events = counting.events
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { flushUses(background, gate, log) })
	group.Go(func() { clock.Run(background) })
	auditing, endAudits := context.WithCancel(ctx)
	if settings.Audits > 0 {
		group.Go(func() { queue.Run(auditing) })
	}
	err = server.Serve(ctx, doors)
	endAudits()
	stop()
	group.Wait()
	return errors.Join(err, counting.close(ctx), catalog.Close())
}

// newQueue makes the audits of the server, by a client that reaches only what the settings allow.
func newQueue(settings config.Config, catalog store.Catalog, now func() time.Time, log *slog.Logger) (*audit.Queue, *guard.Client) {
	client := guard.New(guard.Options{Rules: guard.Rules{AllowPrivate: settings.AllowPrivate, AllowPorts: settings.AllowPorts}, Agent: userAgent()})
	var web crawl.Fetcher = client
	if settings.Demo {
		web = newDemoWeb(client)
	}
	auditor := audit.New(crawl.New(web, crawl.Manners{}), now)
	return audit.NewQueue(auditor, catalog, settings.Audits, now, log), client
}

// flushUses writes when keys were last used, now and then and once more when ctx ends.
func flushUses(ctx context.Context, gate *account.Gate, log *slog.Logger) {
	ticker := time.NewTicker(flushTime)
	defer ticker.Stop()
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			last = true
		}
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if err := gate.Flush(writing); err != nil {
			log.Warn("the times at which keys were last used are written later", "error", err)
		}
		cancel()
	}
}

// welcome creates the owner and its first key on the first start, tells the person at the terminal how to go on, and then
// fills the demo.
func welcome(ctx context.Context, term *terminal, settings config.Config, catalog store.Catalog, counting *counting, log *slog.Logger) error {
	secret := settings.FirstKey
	if secret == "" {
		secret = account.NewSecret()
	}
	now := term.now().UTC().Truncate(time.Second)
	owner := account.New(settings.Owner, now)
	first, err := catalog.CreateOwner(ctx, &owner, &account.Key{Name: "first key", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: now})
	if err != nil {
		return fmt.Errorf("create the owner account: %w", err)
	}
	fmt.Fprintf(term.stdout, running, buildVersion(), settings.SEOURL, settings.AnalyticsURL)
	if settings.AdminListen != "" {
		fmt.Fprintf(term.stdout, "Metrics are at http://%[1]s/metrics, profiles at http://%[1]s/debug/pprof/.\n", settings.AdminListen)
	}
	if first {
		fmt.Fprintf(term.stdout, firstSteps, secret, quote(secret), settings.SEOURL, settings.AnalyticsURL)
	} else {
		if settings.FirstKey != "" {
			log.Info("--first-key is left alone: this installation has an owner and its keys already")
		}
		fmt.Fprintf(term.stdout, nextSteps, quote(os.Args[0]), storageFlags(settings))
	}
	if !settings.Demo {
		return nil
	}
	accounts, err := catalog.Accounts(ctx)
	if err != nil {
		return fmt.Errorf("find the owner account: %w", err)
	}
	if err := fillDemo(ctx, catalog, counting.target(), accounts[0].ID, now); err != nil {
		return fmt.Errorf("fill the demo: %w", err)
	}
	return nil
}

// storageFlags are the flags by which another command finds the same catalog. The database may hold a password, so only
// its flag is named.
func storageFlags(settings config.Config) string {
	switch {
	case settings.Database != "":
		return " --database URL"
	case settings.Data != "./sightline-data":
		return " --data " + quote(settings.Data)
	}
	return ""
}

// quote writes text so that a shell reads it as one word.
func quote(text string) string {
	if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

const running = `Sightline %s is running. Stop it with Ctrl-C.

  search optimization  %s
  analytics            %s

Both describe their operations at /docs.
`

const firstSteps = `
Your first API key. It is shown only this once, so keep it:

  %[1]s

Paste this into another terminal: a project and a website to begin with, then every documented operation.

  export KEY=%[2]s
  curl -H "Authorization: Bearer $KEY" %[3]s/api/v1/projects -d project=example.com
  curl -H "Authorization: Bearer $KEY" %[4]s/api/v1/websites -d url=https://example.com

  curl -H "Authorization: Bearer $KEY" %[3]s/api/v1/projects
  curl -H "Authorization: Bearer $KEY" -X DELETE %[3]s/api/v1/projects/example.com
  curl -H "Authorization: Bearer $KEY" %[4]s/api/v1/websites
  curl -H "Authorization: Bearer $KEY" %[4]s/api/v1/websites/1
  curl -H "Authorization: Bearer $KEY" %[4]s/api/v1/websites -d url=https://shop.example.com -d privacy=0
  curl -H "Authorization: Bearer $KEY" -X PUT %[4]s/api/v1/websites/1 -d 'exclude_params=utm_*, fbclid'
  curl -H "Authorization: Bearer $KEY" -X DELETE %[4]s/websites/1/destroy

`

const nextSteps = `
Lost your API key? Make another:  %s key create --name NAME%s

`
