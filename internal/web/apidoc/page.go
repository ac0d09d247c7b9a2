package apidoc

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"anchor": anchor}).Parse(pageHTML))

// Policy is the Content-Security-Policy that the page needs: its own style and nothing else.
func Policy() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Page is an OpenAPI document made by Document, as an HTML page for people. It refers to nothing outside itself.
func Page(openapi []byte) ([]byte, error) {
	view, err := newView(openapi)
	if err != nil {
		return nil, fmt.Errorf("read the description of the interface: %w", err)
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, view); err != nil {
		return nil, fmt.Errorf("render the description of the interface: %w", err)
	}
	return out.Bytes(), nil
}

// What the template shows.
type (
	view struct {
		Style                template.CSS
		Title, Version, Base string
		Intro                []block
		Groups               []group
		Records              []record
		Headers              []field
	}
	group struct {
		Name       string
		About      []block
		Operations []entry
	}
	entry struct {
		ID, Method, Path, Summary string
		About                     []block
		Parameters                table
		Fields                    table
		Many                      bool       // the body is a list of such fields
		Needed                    [][]string // the fields of which one is needed
		BodyAbout                 []span
		Calls                     []call
		Answers                   []answer // 2xx and 3xx
		Errors                    []answer
	}
	field struct {
		Name, Where, Kind, Allowed, Default string
		Records                             []string // the schemas of one of which it is
		Required                            bool
		About                               []span
	}
	call struct {
		Title, Command string
	}
	answer struct {
		Status, Record  string
		Message, Fields string // what an error says, in all and of each field
		About           []span
		Headers         []string
		Example         string
	}
	record struct {
		Name   string
		About  []block
		Fields table
	}
)

// A table is a list of parameters or fields.
type table []field

// Defaults says whether any of them has a default.
func (t table) Defaults() bool {
	return slices.ContainsFunc(t, func(f field) bool { return f.Default != "" })
}

func newView(openapi []byte) (view, error) {
	var doc document
	if err := json.Unmarshal(openapi, &doc); err != nil {
		return view{}, err
	}
	v := view{Style: template.CSS(pageCSS), Title: doc.Info.Title, Version: doc.Info.Version, Base: doc.Servers[0].URL, Intro: blocks(doc.Info.Description)}
	for _, t := range doc.Tags {
		v.Groups = append(v.Groups, group{Name: t.Name, About: blocks(t.Description)})
	}
	b := builder{reader: reader{doc.Components}, base: v.Base, bodies: map[string]bool{}}
	for _, path := range doc.Paths {
		var operations ordered[operation]
		if err := json.Unmarshal(path.Value, &operations); err != nil {
			return v, err
		}
		for _, o := range operations {
			e, err := b.entry(strings.ToUpper(o.Name), path.Name, o.Value)
			if err != nil {
				return v, fmt.Errorf("%s: %w", o.Value.ID, err)
			}
			group := slices.IndexFunc(v.Groups, func(g group) bool { return slices.Contains(o.Value.Tags, g.Name) })
			if group < 0 {
				return v, fmt.Errorf("%s has no tag that is described", o.Value.ID)
			}
			v.Groups[group].Operations = append(v.Groups[group].Operations, e)
		}
	}
	v.Headers = b.headers()
	var err error
	v.Records, err = b.records(doc)
	return v, err
}
