package apidoc

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// A command is a call of an operation with curl.
type command struct {
	method, address string
	query           []string
	lines           []string
}

func newCommand(method, address string, key bool) command {
	c := command{method: method, address: address}
	if key {
		c.lines = append(c.lines, `-H "Authorization: Bearer $KEY"`)
		if method == "GET" {
			c.lines = append(c.lines, `-H "Accept: application/json"`)
		}
	}
	return c
}

func (c *command) parameter(in, name, value string) {
	switch in {
	case "path":
		c.address = strings.ReplaceAll(c.address, "{"+name+"}", url.PathEscape(value))
	case "query":
		c.query = append(c.query, name+"="+url.QueryEscape(value))
	}
}

func (c command) withForm(fields ordered[json.RawMessage]) command {
	c.lines = slices.Clone(c.lines)
	for _, f := range fields {
		c.lines = append(c.lines, "--data-urlencode "+quote(f.Name+"="+plain(f.Value)))
	}
	return c
}

func (c command) withJSON(body json.RawMessage) command {
	c.lines = append(slices.Clone(c.lines), `-H "Content-Type: application/json"`, "-d "+quote(indented(body, "  ")))
	return c
}

// withFile sends lines of JSON from a file.
func (c command) withFile(name string) command {
	c.lines = append(slices.Clone(c.lines), `-H "Content-Type: `+lineType+`"`, "--data-binary @"+name)
	return c
}

// text is the command, ready to be pasted into a shell.
func (c command) text() string {
	first := "curl "
	if c.method != "GET" {
		first += "-X " + c.method + " "
	}
	address := c.address
	if len(c.query) > 0 {
		address += "?" + strings.Join(c.query, "&")
	}
	return strings.Join(append([]string{first + quote(address)}, c.lines...), " \\\n  ")
}

// quote protects text from the shell.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
