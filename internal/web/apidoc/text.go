package apidoc

import "strings"

// A block is a paragraph, a heading or a piece of code: the little of CommonMark that descriptions use.
type block struct {
	Heading string
	Code    string
	Spans   []span
}

// A span is a piece of a paragraph: plain text, or code.
type span struct {
	Text string
	Code bool
}

// blocks reads a description: paragraphs and headings (##) with empty lines between them, code between lines of ```.
func blocks(text string) []block {
	var out []block
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case strings.HasPrefix(part, "```"):
			out = append(out, block{Code: strings.TrimSpace(strings.Trim(part, "`"))})
		case strings.HasPrefix(part, "## "):
			out = append(out, block{Heading: strings.TrimPrefix(part, "## ")})
		default:
			out = append(out, block{Spans: spans(part)})
		}
	}
	return out
}

// spans splits a paragraph at its backquotes.
func spans(text string) []span {
	var out []span
	code := false
	for part := range strings.SplitSeq(text, "`") {
		if part != "" {
			out = append(out, span{part, code})
		}
		code = !code
	}
	return out
}

// anchor is a heading as the name of a place on the page.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}
