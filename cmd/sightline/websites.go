package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sightline/client"
)

// WebsitesCmd is sightline websites.
type WebsitesCmd struct {
	List    WebsitesListCmd    `cmd:"" help:"List the websites."`
	Get     WebsitesGetCmd     `cmd:"" help:"Show a website."`
	Create  WebsitesCreateCmd  `cmd:"" help:"Register a website."`
	Update  WebsitesUpdateCmd  `cmd:"" help:"Change a website."`
	Delete  WebsitesDeleteCmd  `cmd:"" help:"Move a website into the trash."`
	Restore WebsitesRestoreCmd `cmd:"" help:"Bring a website back from the trash."`
	Apply   WebsitesApplyCmd   `cmd:"" help:"Create and update many websites from a file."`
	Snippet WebsitesSnippetCmd `cmd:"" help:"Print the HTML by which pages are counted."`
}

// WebsitesListCmd is sightline websites list.
type WebsitesListCmd struct {
	ListFlags
}

var websiteList = list[client.Website]{
	plural: "websites",
	page:   (*client.Client).Websites,
	all:    (*client.Client).AllWebsites,
	raw:    func(w client.Website) json.RawMessage { return w.Raw },
	heads:  []string{"ID", "URL", "PRIVACY", "EMAIL", "BOTS", "PARAMS", "IPS", "CREATED"},
	row: func(w client.Website) []string {
		return []string{strconv.FormatInt(w.ID, 10), printable(w.URL), privacyText(w.Privacy), yesNo(w.Email), yesNo(!w.ExcludeBots),
			entriesText(w.ExcludeParams), entriesText(w.ExcludeIPs), dateText(w.CreatedAt)}
	},
}

// Run lists websites.
func (c *WebsitesListCmd) Run(ctx context.Context, term *terminal) error {
	return websiteList.show(ctx, term, &c.ListFlags)
}

// privacies are the words for the privacies.
var privacies = []string{"public", "private", "password"}

func privacyText(p client.Privacy) string {
	if p < 0 || int(p) >= len(privacies) {
		return strconv.Itoa(int(p))
	}
	return privacies[p]
}

func yesNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// entriesText says how many entries an exclusion list has.
func entriesText(text string) string {
	n := len(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\r\n", r) }))
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// oneLine shows an exclusion list, which may have line breaks.
func oneLine(text string) string {
	if text == "" {
		return "none"
	}
	return printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }), ", "))
}

// WebsitesGetCmd is sightline websites get.
type WebsitesGetCmd struct {
	RemoteFlags
	ID int64 `arg:"" help:"The website's number in sightline websites list."`
}

// Run shows a website.
func (c *WebsitesGetCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		site, err := api.Website(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, site.Raw)
		}
		return writeColumns(term.stdout, [][]string{
			{"id", strconv.FormatInt(site.ID, 10)},
			{"url", printable(site.URL)},
			{"domain", printable(site.Domain)},
			{"privacy", privacyText(site.Privacy)},
			{"password", map[bool]string{true: "set", false: "none"}[site.HasPassword]},
			{"e-mail report", yesNo(site.Email)},
			{"bots excluded", yesNo(site.ExcludeBots)},
			{"excluded parameters", oneLine(site.ExcludeParams)},
			{"excluded addresses", oneLine(site.ExcludeIPs)},
			{"tracking id", printable(site.TrackingID)},
			{"created", timeText(site.CreatedAt)},
			{"updated", timeText(site.UpdatedAt)},
		}, 0)
	})
}

// WebsiteFlags are the fields of a website that create and update set.
type WebsiteFlags struct {
	Privacy       *string `placeholder:"WHO" help:"Who may open the stats pages: public, private or password (0, 1 or 2)."`
	Password      *string `placeholder:"TEXT" xor:"password" help:"What to ask for when privacy is password. Better by --password-stdin or in the environment: other users of this machine can read command lines."`
	PasswordStdin bool    `xor:"password" help:"Read the password from standard input."`
	Email         *string `placeholder:"YES" help:"Send e-mail reports: yes or no (1 or 0)."`
	ExcludeBots   *string `placeholder:"YES" help:"Leave out visits of bots: yes or no (1 or 0)."`
	ExcludeParams *string `placeholder:"NAMES" help:"Query parameters to leave out of page addresses, such as utm_*,fbclid; & for all; empty for none."`
	ExcludeIPs    *string `name:"exclude-ips" placeholder:"ADDRESSES" help:"Addresses whose visits are not counted, such as 10.0.0.0/8,192.0.2.7; empty for none."`
}

// fields are the flags as the client takes them.
func (f *WebsiteFlags) fields(term *terminal) (client.WebsiteFields, error) {
	fields := client.WebsiteFields{Password: f.Password, ExcludeParams: f.ExcludeParams, ExcludeIPs: f.ExcludeIPs}
	if f.Privacy != nil {
		for i, word := range privacies {
			if *f.Privacy == word || *f.Privacy == strconv.Itoa(i) {
				fields.Privacy = new(client.Privacy(i))
			}
		}
		if fields.Privacy == nil {
			return fields, usage(fmt.Errorf("--privacy must be public, private or password (0, 1 or 2), not %q", *f.Privacy))
		}
	}
	var err error
	if fields.Email, err = parseSwitch("--email", f.Email); err != nil {
		return fields, err
	}
	if fields.ExcludeBots, err = parseSwitch("--exclude-bots", f.ExcludeBots); err != nil {
		return fields, err
	}
	if f.PasswordStdin {
		if fields.Password, err = readPassword(term.stdin); err != nil {
			return fields, err
		}
	}
	if fields.Password != nil && *fields.Password == "" {
		return fields, usage(errors.New("the password must not be empty"))
	}
	return fields, nil
}

// parseSwitch reads a flag that is on or off; nil when it was not given.
func parseSwitch(flag string, text *string) (*bool, error) {
	if text == nil {
		return nil, nil
	}
	switch strings.ToLower(*text) {
	case "1", "yes", "on", "true":
		return new(true), nil
	case "0", "no", "off", "false":
		return new(false), nil
	default:
		return nil, usage(fmt.Errorf("%s must be yes or no (1 or 0), not %q", flag, *text))
	}
}

// maxPassword is more than any password takes, in bytes.
const maxPassword = 4096

// readPassword reads a password, without the line break that ends it.
func readPassword(stdin io.Reader) (*string, error) {
	content, err := io.ReadAll(io.LimitReader(stdin, maxPassword))
	if err != nil {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	return new(strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")), nil
}

// WebsitesCreateCmd is sightline websites create.
type WebsitesCreateCmd struct {
	RemoteFlags
	URL string `required:"" placeholder:"URL" help:"Address of the website, such as https://example.com."`
	WebsiteFlags
}

// Run registers a website.
func (c *WebsitesCreateCmd) Run(ctx context.Context, term *terminal) error {
	fields, err := c.fields(term)
	if err != nil {
		return err
	}
	fields.URL = &c.URL
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		site, err := api.CreateWebsite(ctx, fields)
		if err != nil {
			return err
		}
		if site.SameDomain != 0 {
			fmt.Fprintf(term.stderr, "Note: website %d has the same domain.\n", site.SameDomain)
		}
		return c.report(term, site, "created")
	})
}

// report says what was done to a website.
func (f *RemoteFlags) report(term *terminal, site client.Website, done string) error {
	if f.JSON {
		return writeJSON(term.stdout, site.Raw)
	}
	_, err := fmt.Fprintf(term.stdout, "Website %d (%s) is %s.\n", site.ID, printable(site.URL), done)
	return err
}

// WebsitesUpdateCmd is sightline websites update.
type WebsitesUpdateCmd struct {
	RemoteFlags
	ID  int64   `arg:"" help:"The website's number in sightline websites list."`
	URL *string `placeholder:"URL" help:"Address of the website."`
	WebsiteFlags
	RemovePassword bool `xor:"password" help:"Forget the password."`
}

// Run changes a website.
func (c *WebsitesUpdateCmd) Run(ctx context.Context, term *terminal) error {
	fields, err := c.fields(term)
	if err != nil {
		return err
	}
	fields.URL, fields.RemovePassword = c.URL, c.RemovePassword
	if fields == (client.WebsiteFields{}) {
		return usage(errors.New("say what to change, such as --privacy public (see sightline websites update --help)"))
	}
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		site, err := api.UpdateWebsite(ctx, c.ID, fields)
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		return c.report(term, site, "updated")
	})
}

// WebsitesDeleteCmd is sightline websites delete.
type WebsitesDeleteCmd struct {
	RemoteFlags
	ID int64 `arg:"" help:"The website's number in sightline websites list."`
}

// Run moves a website into the trash.
func (c *WebsitesDeleteCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		gone, err := api.DeleteWebsite(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, gone)
		}
		_, err = fmt.Fprintf(term.stdout, "Website %d is deleted. While it is in the trash, this brings it back: sightline websites restore %d\n", gone.ID, gone.ID)
		return err
	})
}

// WebsitesRestoreCmd is sightline websites restore.
type WebsitesRestoreCmd struct {
	RemoteFlags
	ID int64 `arg:"" help:"The number that the website had."`
}

// Run brings a website back.
func (c *WebsitesRestoreCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		site, err := api.RestoreWebsite(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("website %d in the trash: %w", c.ID, err)
		}
		return c.report(term, site, "restored")
	})
}
