package checktest

import (
	"fmt"
	"html"
	"strings"
)

// A Doc is an HTML page in parts. An empty part is left out.
type Doc struct {
	Lang        string
	Title       string
	Description string
	Viewport    string
	Canonical   string
	Head        string // more of the head, as HTML
	H1          string
	Text        string   // visible text
	Body        string   // more of the body, as HTML
	Links       []string // addresses
}

// Good is a page without defects. Its texts are all its own.
func Good(address string) Doc {
	name := strings.Trim(strings.NewReplacer("https://", "", "http://", "", "/", " ", ".", " ", "?", " ").Replace(address), " ")
	return Doc{
		Lang:        "en",
		Title:       "All there is to know of " + name,
		Description: "This page tells everything about " + name + ", with pictures, prices and the opinions of many customers.",
		Viewport:    "width=device-width, initial-scale=1",
		Canonical:   address,
		H1:          "About " + name,
		Text:        Words(name, 220),
	}
}

// Words is text of n words about something.
func Words(about string, n int) string {
	some := append([]string{"we", "sell", "good", "things", "and", "ship", "them", "with", "care", "to", "you"}, strings.Fields(about)...)
	words := make([]string, n)
	for i := range words {
		words[i] = some[i%len(some)]
	}
	return strings.Join(words, " ")
}

// HTML is the page as written.
func (d Doc) HTML() string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html")
	put(&b, ` lang="%s"`, d.Lang)
	b.WriteString("><head>\n")
	put(&b, "<title>%s</title>\n", d.Title)
	put(&b, "<meta name=\"description\" content=\"%s\">\n", d.Description)
	put(&b, "<meta name=\"viewport\" content=\"%s\">\n", d.Viewport)
	put(&b, "<link rel=\"canonical\" href=\"%s\">\n", d.Canonical)
	b.WriteString(d.Head + "</head><body>\n")
	put(&b, "<h1>%s</h1>\n", d.H1)
	put(&b, "<p>%s</p>\n", d.Text)
	b.WriteString(d.Body)
	for _, link := range d.Links {
		put(&b, "<a href=\"%s\">more</a>\n", link)
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

func put(b *strings.Builder, format, value string) {
	if value != "" {
		fmt.Fprintf(b, format, html.EscapeString(value))
	}
}
