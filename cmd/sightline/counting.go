package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sightline/internal/collect"
	"sightline/internal/collect/place"
	"sightline/internal/config"
	"sightline/internal/store"
	"sightline/internal/web"
)

// storeTime is how long a server that stops waits for accepted hits to be stored. Those that are not are stored after the next start.
const storeTime = 5 * time.Second

// counting is what counts visits. It is empty where none are counted.
type counting struct {
	events    store.Events
	collector *collect.Collector
	release   func() error // of the right to keep a database's events
}

// openCounting opens the events and the collector, unless this server or this build counts no visits.
func openCounting(ctx context.Context, settings config.Config, catalog store.Catalog, now func() time.Time, log *slog.Logger) (*counting, error) {
	if settings.Events == config.NoEvents {
		log.Info("this server counts no visits: it runs with --events none")
		return &counting{}, nil
	}
	events, err := store.OpenEvents(ctx, settings.Data, store.EventOptions{Now: now})
	if errors.Is(err, store.ErrNoEvents) {
		log.Warn(err.Error())
		return &counting{}, nil
	}
	if err != nil {
		return nil, err
	}
	c := &counting{events: events}
	if c.release, err = store.HoldEvents(ctx, settings.Database); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	places, err := place.Open(settings.GeoDatabase)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--geo-database: %w", err), c.close(ctx))
	}
	c.collector, err = collect.Open(ctx, catalog, events, collect.Options{Dir: settings.Data, Places: places, Now: now, Log: log})
	if err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	return c, nil
}

// serve lets a server use it.
func (c *counting) serve(server *web.Server) {
	if c.collector != nil {
		server.Events, server.Collector = c.events, c.collector
	}
}

// target is where events of the demo go; nil where none are kept.
func (c *counting) target() eventTarget {
	if c.events == nil {
		return nil
	}
	return c.events
}

// close stores what was accepted and gives everything back.
func (c *counting) close(ctx context.Context) error {
	var err error
	if c.collector != nil {
		storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
		err = c.collector.Close(storing)
	}
	if c.events != nil {
		err = errors.Join(err, c.events.Close())
	}
	if c.release != nil {
		err = errors.Join(err, c.release())
	}
	return err
}
