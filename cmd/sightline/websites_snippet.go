package main

import (
	"context"
	"fmt"
	"io"

	"sightline/client"
	"sightline/internal/config"
	"sightline/internal/web/beacon"
)

// WebsitesSnippetCmd is sightline websites snippet.
type WebsitesSnippetCmd struct {
	config.Remote
	ID        int64 `arg:"" help:"The website's number in sightline websites list."`
	Hash      bool  `help:"The part of an address after # names a page, too."`
	Outbound  bool  `help:"Report clicks on links to other sites."`
	Downloads bool  `help:"Report clicks on links to files; the attribute lists their extensions."`
	DNT       bool  `name:"dnt" help:"Do not count people who send Do Not Track or Global Privacy Control."`
	Local     bool  `help:"Count pages on localhost and in files, too."`
	Early     bool  `help:"Let the page report events before the tracker is loaded."`
	Noscript  bool  `help:"Count browsers without scripts, by a picture."`
}

// Run prints what the pages of a website need.
func (c *WebsitesSnippetCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		site, err := api.Website(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		flags, err := c.Check()
		if err != nil {
			return err
		}
		snippet := beacon.Snippet{Base: flags.AnalyticsURL, Site: site.TrackingID, Hash: c.Hash, Outbound: c.Outbound, DNT: c.DNT, Local: c.Local,
			Early: c.Early, NoScript: c.Noscript}
		if c.Downloads {
			snippet.Downloads = beacon.Downloads
		}
		_, err = io.WriteString(term.stdout, snippet.String())
		return err
	})
}
