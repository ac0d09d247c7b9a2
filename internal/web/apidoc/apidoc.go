// Package apidoc describes the interface: as an OpenAPI 3.1 document for programs and as a page for people. The
// description is kept by hand in files: one for each area, one for what both share, one for what is different when both
// live at the same URL; the page is made from it.
package apidoc

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An Area is one of the two halves of the interface.
type Area string

// The areas.
const (
	SEO       Area = "seo"
	Analytics Area = "analytics"
)

// bothTitle is the title of a document of more than one area.
const bothTitle = "Sightline"

//go:embed seo.json analytics.json stats.json shared.json both.json
var files embed.FS

// A document is an OpenAPI document, or a part of one. What it says of operations is passed on unread.
type document struct {
	OpenAPI    string                            `json:"openapi"`
	Info       info                              `json:"info"`
	Servers    []server                          `json:"servers"`
	Tags       []tag                             `json:"tags"`
	Paths      ordered[json.RawMessage]          `json:"paths"`
	Components ordered[ordered[json.RawMessage]] `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	URL string `json:"url"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Document is the OpenAPI document of the areas at a base URL: of one, or of both when they live at the same URL.
// It keeps the order of the files: the documented operations of an area come before the others.
func Document(version, base string, areas ...Area) ([]byte, error) {
	if len(areas) == 0 {
		return nil, errors.New("describe the interface: no area is named")
	}
	whole := document{OpenAPI: "3.1.0", Servers: []server{{base}}}
	var names []Area
	for _, area := range areas {
		names = append(names, area)
		if area == Analytics {
			names = append(names, "stats") // a file of its own: it is long
		}
	}
	names = append(names, "shared")
	var joint document
	if len(areas) > 1 {
		names = append(names, "both")
		var err error
		if joint, err = read("both", base); err != nil {
			return nil, fmt.Errorf("describe the interface: %w", err)
		}
	}
	for _, name := range names {
		part, err := read(name, base)
		if err == nil {
			err = whole.add(part, joint)
		}
		if err != nil {
			return nil, fmt.Errorf("describe the interface: %s: %w", name, err)
		}
	}
	whole.Info.Version = version
	if len(areas) > 1 {
		whole.Info.Title = bothTitle
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		return nil, fmt.Errorf("describe the interface: %w", err)
	}
	return out.Bytes(), nil
}

// read reads a file. Its examples write {base_url} for the base URL.
func read(name Area, base string) (document, error) {
	var part document
	text, err := files.ReadFile(string(name) + ".json")
	if err != nil {
		return part, err
	}
	quoted, err := json.Marshal(base)
	if err != nil {
		return part, err
	}
	text = bytes.ReplaceAll(text, []byte("{base_url}"), bytes.Trim(quoted, `"`))
	return part, json.Unmarshal(text, &part)
}

// add takes over what a part says. Two parts must not speak of the same thing, unless joint says what holds then.
func (d *document) add(part, joint document) error {
	if d.Info.Title == "" {
		d.Info.Title = part.Info.Title
	}
	d.Info.Description = strings.TrimSpace(d.Info.Description + "\n\n" + part.Info.Description)
	d.Tags = append(d.Tags, part.Tags...)
	if err := d.Paths.add(part.Paths, joint.Paths); err != nil {
		return err
	}
	for _, section := range part.Components {
		if d.Components.find(section.Name) == nil {
			d.Components = append(d.Components, member[ordered[json.RawMessage]]{Name: section.Name})
		}
		var settled ordered[json.RawMessage]
		if found := joint.Components.find(section.Name); found != nil {
			settled = *found
		}
		if err := d.Components.find(section.Name).add(section.Value, settled); err != nil {
			return err
		}
	}
	return nil
}
