package main

// The examples that the --help of each command ends with.

// Help is shown by sightline --help.
func (*commands) Help() string {
	return `Examples:

    sightline serve                      start, print the first API key and curl lines that use it
    sightline serve --demo               the same, with examples to look at
    sightline key create --name backup   make another key

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
	return `Accounts are separate: none sees the projects and websites of another.

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

// Help is shown by sightline version --help.
func (*VersionCmd) Help() string {
	return `Examples:

    sightline version`
}
