package main

import (
	"context"

	"sightline/internal/config"
	"sightline/internal/metrics"
	"sightline/internal/store"
	"sightline/internal/store/timed"
	"sightline/internal/web"
)

// listenAdmin adds a door for metrics and profiles, if the settings ask for one, and writes the address that was bound into
// them. Without one there is nothing to count for: the metrics are nil.
func listenAdmin(settings *config.Config, doors []*web.Door) (*metrics.Metrics, []*web.Door, error) {
	if settings.AdminListen == "" {
		return nil, doors, nil
	}
	meter := metrics.New(buildVersion())
	door, err := web.ListenAdmin(settings.AdminListen, meter.Handler())
	if err != nil {
		return nil, doors, err
	}
	settings.AdminListen = door.Addresses()[0].String()
	return meter, append(doors, door), nil
}

// openCatalog opens the catalog, and measures what it does if there are metrics.
func openCatalog(ctx context.Context, settings config.Config, meter *metrics.Metrics) (store.Catalog, error) {
	catalog, err := store.Open(ctx, settings.Database, settings.Data)
	if err != nil || meter == nil {
		return catalog, err
	}
	if batching, ok := catalog.(interface{ WatchBatches(func(writes int)) }); ok {
		batching.WatchBatches(meter.Batch)
	}
	return timed.New(catalog, meter.Store(store.Engine(settings.Database))), nil
}
