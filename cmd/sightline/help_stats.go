package main

// Help is shown by sightline stats --help.
func (*StatsCmd) Help() string {
	return `Counts the last 30 days unless --from and --to say otherwise. The bars are those of the first metric. --json prints the
answer of the server.

Examples:

    sightline stats 7
    sightline stats 7 --by page --from 30d
    sightline stats 7 --by day --from 2026-11-01 --to 2026-11-30 --metrics visitors,bounce_rate
    sightline stats 7 --by source --filter 'country:is:DE|AT' --filter page:contains:/blog
    sightline stats 7 --by country --from 12mo --compare previous_year --json`
}

// Help is shown by sightline export --help.
func (*ExportCmd) Help() string {
	return `All events, unless --from and --to say otherwise. In a csv file a ' stands before what a spreadsheet would take for a formula.

Examples:

    sightline export 7 > visits.csv
    sightline export 7 --format ndjson --output visits.ndjson
    sightline export 7 --from 2026-11-01 --to 2026-11-30 --timezone Europe/Berlin --output november.csv`
}

// Help is shown by sightline import --help.
func (*ImportCmd) Help() string {
	return `The file has one event as a JSON object in each line, as sightline export --format ndjson writes them:

    {"at":"2026-11-14T09:30:00.000Z","kind":"pageview","page":"/","visitor":"5b1f6f2d9c0a7e43","visit":"0c9d8e7f6a5b4c3d"}

It is sent in pieces, each of which is stored as a whole or not at all. Events that are there already, equal in every field,
are not stored again: an import that broke off can simply be started anew, or at the line that it names.

Examples:

    sightline import 7 visits.ndjson
    sightline import 7 visits.ndjson --from-line 20001
    sightline export 7 --format ndjson | sightline import 8 -`
}

// Help is shown by sightline events --help.
func (*EventsCmd) Help() string {
	return `Examples:

    sightline events compact`
}

// Help is shown by sightline events compact --help.
func (*EventsCompactCmd) Help() string {
	return `The server goes on meanwhile. It takes a key with the scope account:write of the account that was created first.

Examples:

    sightline events compact
    sightline events compact --analytics-url https://stats.example.com`
}
