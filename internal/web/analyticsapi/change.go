package analyticsapi

import (
	"context"
	"strings"

	"sightline/internal/analytics"
	"sightline/internal/web/apikit"
)

// websiteFields are the fields that a caller can set.
var websiteFields = []string{"url", "privacy", "password", "email", "exclude_bots", "exclude_params", "exclude_ips", "domain"}

// change is the change of a website that a body asks for. The password is hashed here, before any transaction; one that
// the website has already keeps its hash.
func change(ctx context.Context, body apikit.Fields, known string) (func(*analytics.Website) error, error) {
	var edits []func(*analytics.Website)
	edit := func(e func(*analytics.Website)) { edits = append(edits, e) }

	if address, sent := addressOf(body); sent {
		var parsed analytics.Website
		if err := parsed.SetURL(address); err != nil {
			body.Merge(err)
		}
		edit(func(w *analytics.Website) { w.URL, w.Domain = parsed.URL, parsed.Domain })
	}
	if value, sent := switched(body, "email"); sent {
		edit(func(w *analytics.Website) { w.Email = value })
	}
	if value, sent := switched(body, "exclude_bots"); sent {
		edit(func(w *analytics.Website) { w.ExcludeBots = value })
	}
	if body.Has("exclude_params") {
		text := listOf(body, "exclude_params")
		edit(func(w *analytics.Website) { w.ExcludeParams = text })
	}
	if body.Has("exclude_ips") {
		text := listOf(body, "exclude_ips")
		edit(func(w *analytics.Website) { w.ExcludeIPs = text })
	}
	open, err := apikit.Access(ctx, body, known)
	if err != nil {
		return nil, err
	}
	edit(func(w *analytics.Website) { open(&w.Privacy, &w.PasswordHash) })
	return func(w *analytics.Website) error {
		for _, e := range edits {
			e(w)
		}
		return body.Bad.OrNil()
	}, nil
}

// addressOf is the field url or, when that is not sent, domain.
func addressOf(body apikit.Fields) (string, bool) {
	address, domain := body.Text("url"), body.Text("domain")
	if body.Has("url") {
		return address, true
	}
	return domain, body.Has("domain")
}

// listOf is a list as it was sent, trimmed; one that holds nothing but separators is empty.
func listOf(body apikit.Fields, name string) string {
	text := body.Lines(name)
	if strings.Trim(text, " ,;\r\n") == "" {
		return ""
	}
	return strings.TrimSpace(text)
}

func switched(body apikit.Fields, name string) (on, sent bool) {
	value, sent := body.Choice(name, []string{"0", "1"}, "must be 0 or 1")
	return value == "1", sent
}
