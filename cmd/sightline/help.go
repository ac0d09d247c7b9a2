package main

// The examples that the --help of each command ends with.

// Help is shown by sightline --help.
func (*commands) Help() string {
	return `Examples:

    sightline serve                      start, print the first API key and curl lines that use it
    sightline serve --demo               the same, with examples to look at
    sightline key create --name backup   make another key
    sightline websites list              list the websites of a running server

Every flag is also an environment variable and a key in sightline.toml; a flag goes before a variable,
a variable before the file. Every command has its own --help.`
}

// Help is shown by sightline serve --help.
func (*ServeCmd) Help() string {
	return `Serves both areas until it gets SIGTERM or Ctrl-C. The first start creates an account and prints its API key.

Examples:

    sightline serve
    sightline serve --demo --data ./try-it
    sightline serve --seo-url http://seo.example.com --analytics-url http://stats.example.com
    sightline serve --seo-url https://seo.example.com --seo-listen 127.0.0.1:9001 \
        --analytics-url https://stats.example.com --analytics-listen 127.0.0.1:9002
    sightline serve --database postgres://sightline:secret@db.example.com/sightline`
}

// Help is shown by sightline key --help.
func (*KeyCmd) Help() string {
	return `These commands work beside a running server, which follows at once.

Examples:

    sightline key create --name backup
    sightline key list
    sightline key revoke 3`
}

// Help is shown by sightline key create --help.
func (*KeyCreateCmd) Help() string {
	return `Prints the key, and nothing else, on standard output. It is shown this once only.

Examples:

    sightline key create --name backup
    sightline key create --name dashboard --scopes seo:read,analytics:read --expires 90d
    KEY=$(sightline key create --name ci --account you@example.com --expires 2027-01-31)`
}

// Help is shown by sightline key list --help.
func (*KeyListCmd) Help() string {
	return `Lists the keys of all accounts, oldest first, but never the keys themselves.

Examples:

    sightline key list
    sightline key list --data /var/lib/sightline`
}

// Help is shown by sightline key revoke --help.
func (*KeyRevokeCmd) Help() string {
	return `The key is refused from now on, for good.

Examples:

    sightline key revoke 3`
}

// Help is shown by sightline account --help.
func (*AccountCmd) Help() string {
	return `Accounts are separate: none sees the projects, reports and websites of another.

Examples:

    sightline account create you@example.com
    sightline account list`
}

// Help is shown by sightline account create --help.
func (*AccountCreateCmd) Help() string {
	return `The account needs a key before anybody can use it.

Examples:

    sightline account create you@example.com
    sightline key create --account you@example.com --name first`
}

// Help is shown by sightline account list --help.
func (*AccountListCmd) Help() string {
	return `Lists all accounts, oldest first.

Examples:

    sightline account list`
}

// Help is shown by sightline backup --help.
func (*BackupCmd) Help() string {
	return `Writes accounts, keys (as hashes only), websites, projects and reports, with the trash, as they are at one moment; a running server goes
on meanwhile. The file is for your eyes only (mode 0600) and carries a checksum, which restore checks.

Examples:

    sightline backup sightline-backup.gz
    sightline backup --force /var/backups/sightline.gz --data /var/lib/sightline
    sightline backup - | ssh other.example.com 'cat > sightline-backup.gz'`
}

// Help is shown by sightline restore --help.
func (*RestoreCmd) Help() string {
	return `Checks the whole file first, then stores all of it or nothing. The directory or database must be empty; it need not be of the
engine that the backup came from. Keys and ids stay the same.

Examples:

    sightline restore sightline-backup.gz
    sightline restore sightline-backup.gz --data /var/lib/sightline
    SIGHTLINE_DATABASE=postgres://sightline:secret@db.example.com/sightline sightline restore sightline-backup.gz`
}

// Help is shown by sightline catalog --help.
func (*CatalogCmd) Help() string {
	return `Examples:

    sightline catalog copy --from ./sightline-data --to postgres://sightline:secret@db.example.com/sightline`
}

// Help is shown by sightline catalog copy --help.
func (*CatalogCopyCmd) Help() string {
	return `Copies accounts, keys, websites, projects and reports, with the trash, as they are at one moment; keys and ids stay the same. All of it
arrives or nothing. A server may run on the old place meanwhile, but what it stores then is not copied: stop it first.

Examples:

    sightline catalog copy --from ./sightline-data --to postgres://sightline:secret@db.example.com/sightline
    SIGHTLINE_TO=postgres://sightline:secret@db.example.com/sightline sightline catalog copy --from /var/lib/sightline`
}

// Help is shown by sightline websites --help.
func (*WebsitesCmd) Help() string {
	return `These commands call a running server, near or far, with an API key of the account.

Examples:

    export SIGHTLINE_API_KEY=…
    sightline websites list --search shop
    sightline websites create --url https://example.com
    sightline websites apply sites.json --dry-run`
}

// Help is shown by sightline websites list --help.
func (*WebsitesListCmd) Help() string {
	return `BOTS says whether their visits are counted, PARAMS and IPS how many query parameters and addresses are excluded. --json prints the records as a JSON array.

Examples:

    sightline websites list
    sightline websites list --search shop --sort-by created_at --sort desc
    sightline websites list --all --json > sites.json
    sightline websites list --analytics-url https://stats.example.com`
}

// Help is shown by sightline websites get --help.
func (*WebsitesGetCmd) Help() string {
	return `Examples:

    sightline websites get 7
    sightline websites get 7 --json`
}

// Help is shown by sightline websites create --help.
func (*WebsitesCreateCmd) Help() string {
	return `What is left out has the server's default: private, no e-mail reports, no bots.

Examples:

    sightline websites create --url https://example.com
    sightline websites create --url https://shop.example.com --privacy public --exclude-params 'utm_*,fbclid'
    sightline websites create --url https://team.example.com --privacy password --password-stdin < password.txt`
}

// Help is shown by sightline websites update --help.
func (*WebsitesUpdateCmd) Help() string {
	return `Changes only what is named.

Examples:

    sightline websites update 7 --privacy public
    sightline websites update 7 --exclude-ips 10.0.0.0/8,192.0.2.7 --email yes
    sightline websites update 7 --exclude-params ''
    sightline websites update 7 --privacy private --remove-password`
}

// Help is shown by sightline websites delete --help.
func (*WebsitesDeleteCmd) Help() string {
	return `Does not ask. The server keeps deleted websites in its trash for some days.

Examples:

    sightline websites delete 7
    sightline websites restore 7`
}

// Help is shown by sightline websites restore --help.
func (*WebsitesRestoreCmd) Help() string {
	return `Examples:

    sightline websites restore 7`
}

// Help is shown by sightline websites snippet --help.
func (*WebsitesSnippetCmd) Help() string {
	return `It goes into the head of every page. --analytics-url must be the address at which visitors reach the analytics area.

Examples:

    sightline websites snippet 7
    sightline websites snippet 7 --outbound --downloads --analytics-url https://stats.example.com`
}

// Help is shown by sightline websites apply --help.
func (*WebsitesApplyCmd) Help() string {
	return `The file is a JSON array of websites with the fields of the API; each needs a url:

    [{"url": "https://example.com", "privacy": 0}, {"url": "https://shop.example.com", "exclude_bots": 1}]

Creates the websites that are missing and updates the others, matched by domain; fields that are left out stay as they
are, and so do websites that are not in the file. The same file again changes nothing. Everything is checked before
anything is written. Up to 1,000 websites (50 with a password) go in one request, as a whole or not at all; more go
in several. Each website is shown in a line:

    + https://new.example.com
    ~ https://example.com  privacy: private → public
    = https://shop.example.com

The key must be able to read and to write.

Examples:

    sightline websites apply sites.json --dry-run
    sightline websites apply sites.json
    sightline websites list --all --json | jq 'map(.email = 1)' | sightline websites apply -`
}

// Help is shown by sightline projects --help.
func (*ProjectsCmd) Help() string {
	return `These commands call a running server, near or far, with an API key of the account.

Examples:

    export SIGHTLINE_API_KEY=…
    sightline projects list
    sightline projects create example.com`
}

// Help is shown by sightline projects list --help.
func (*ProjectsListCmd) Help() string {
	return `Newest first, unless --sort or --sort-by say otherwise. --json prints the records as a JSON array.

Examples:

    sightline projects list
    sightline projects list --search example --sort-by project --sort asc
    sightline projects list --all --json
    sightline projects list --seo-url https://seo.example.com`
}

// Help is shown by sightline projects get --help.
func (*ProjectsGetCmd) Help() string {
	return `Examples:

    sightline projects get example.com
    sightline projects get 7 --json`
}

// Help is shown by sightline projects create --help.
func (*ProjectsCreateCmd) Help() string {
	return `Examples:

    sightline projects create example.com
    sightline projects create https://www.example.com/about
    sightline projects create 'Spring campaign'`
}

// Help is shown by sightline projects delete --help.
func (*ProjectsDeleteCmd) Help() string {
	return `Does not ask. The server keeps deleted projects in its trash for some days.

Examples:

    sightline projects delete example.com
    sightline projects restore 7`
}

// Help is shown by sightline projects restore --help.
func (*ProjectsRestoreCmd) Help() string {
	return `The number is what sightline projects delete printed.

Examples:

    sightline projects restore 7`
}

// Help is shown by sightline completion --help.
func (*CompletionCmd) Help() string {
	return `Examples:

    source <(sightline completion bash)
    sightline completion bash > /etc/bash_completion.d/sightline
    sightline completion zsh > ~/.zfunc/_sightline
    sightline completion fish > ~/.config/fish/completions/sightline.fish`
}

// Help is shown by sightline version --help.
func (*VersionCmd) Help() string {
	return `Examples:

    sightline version`
}
