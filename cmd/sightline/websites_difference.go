package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"sightline/client"
)

// readBefore reads the websites that batches are about, as they are now: page by page when the account is not much larger, else
// one by one.
func readBefore(ctx context.Context, api *client.Client, batches []*batch) (map[int64]client.Website, error) {
	before := map[int64]client.Website{}
	for _, b := range batches {
		for _, site := range b.result.Websites {
			if site.ID != 0 {
				before[site.ID] = client.Website{}
			}
		}
	}
	if len(before) == 0 {
		return before, nil
	}
	const perPage = 100
	oldestFirst := client.ListOptions{SortBy: "created_at", Sort: "asc", PerPage: perPage}
	page, err := api.Websites(ctx, oldestFirst)
	if err != nil {
		return nil, err
	}
	if page.Last > len(before) {
		for id := range before {
			if before[id], err = api.Website(ctx, id); err != nil {
				return nil, err
			}
		}
		return before, nil
	}
	for site, err := range api.AllWebsites(ctx, oldestFirst) {
		if err != nil {
			return nil, err
		}
		if _, wanted := before[site.ID]; wanted {
			before[site.ID] = site
		}
	}
	return before, nil
}

// writeDifference writes one line for each website: what changed, given what it was before.
func writeDifference(w io.Writer, before map[int64]client.Website, after []client.Website) error {
	width := widthOf(w)
	for _, site := range after {
		line := "+ " + site.URL
		if old, known := before[site.ID]; known {
			line = "= " + site.URL
			if changes := differences(old, site); len(changes) > 0 {
				line = "~ " + site.URL + "  " + strings.Join(changes, "; ")
			}
		}
		if line = printable(line); width > 0 {
			line = clip(line, width)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// differences says which fields changed. A password cannot be seen: when nothing else changed, it was that.
func differences(old, site client.Website) []string {
	var changes []string
	add := func(changed bool, name, before, after string) {
		if changed {
			changes = append(changes, name+": "+before+" → "+after)
		}
	}
	set := map[bool]string{true: "set", false: "none"}
	add(old.URL != site.URL, "url", old.URL, site.URL)
	add(old.Privacy != site.Privacy, "privacy", privacyText(old.Privacy), privacyText(site.Privacy))
	add(old.HasPassword != site.HasPassword, "password", set[old.HasPassword], set[site.HasPassword])
	add(old.Email != site.Email, "email", yesNo(old.Email), yesNo(site.Email))
	add(old.ExcludeBots != site.ExcludeBots, "exclude_bots", yesNo(old.ExcludeBots), yesNo(site.ExcludeBots))
	add(old.ExcludeParams != site.ExcludeParams, "exclude_params", oneLine(old.ExcludeParams), oneLine(site.ExcludeParams))
	add(old.ExcludeIPs != site.ExcludeIPs, "exclude_ips", oneLine(old.ExcludeIPs), oneLine(site.ExcludeIPs))
	add(len(changes) == 0 && !old.UpdatedAt.Equal(site.UpdatedAt), "password", "set", "another")
	return changes
}
