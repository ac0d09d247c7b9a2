package main

import (
	"context"
	"fmt"

	"sightline/client"
	"sightline/internal/config"
)

// EventsCmd is sightline events.
type EventsCmd struct {
	Compact EventsCompactCmd `cmd:"" help:"Rewrite the events so that they take less room and are quicker to read."`
}

// EventsCompactCmd is sightline events compact.
type EventsCompactCmd struct {
	config.Remote
}

// Run asks the server to rewrite its events and waits for that.
func (c *EventsCompactCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		began := term.now()
		if err := api.CompactEvents(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintf(term.stdout, "The events are compacted. It took %.1f s.\n", term.now().Sub(began).Seconds())
		return err
	})
}
