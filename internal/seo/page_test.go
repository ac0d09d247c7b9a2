package seo

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestIndexable(t *testing.T) {
	const url = "https://a.example/"
	canonical := func(targets ...string) (list []Canonical) {
		for _, target := range targets {
			list = append(list, Canonical{URL: target})
		}
		return list
	}
	tests := []struct {
		name   string
		change func(*Page)
		want   bool
	}{
		{"a page", func(*Page) {}, true},
		{"an error", func(p *Page) { p.Status = 404 }, false},
		{"no error, but no page", func(p *Page) { p.Status = 204 }, false},
		{"a redirect", func(p *Page) { p.Hops = []Hop{{URL: url, Status: 301}} }, false},
		{"disallowed", func(p *Page) { p.Failure, p.Status = FailedRobots, 0 }, false},
		{"not HTML", func(p *Page) { p.IsHTML = false }, false},
		{"noindex", func(p *Page) { p.Robots = []RobotsRule{{Name: "noindex"}} }, false},
		{"noindex for one agent", func(p *Page) { p.Robots = []RobotsRule{{Name: "noindex", Agent: "googlebot"}} }, true},
		{"available until yesterday", func(p *Page) { p.Robots = []RobotsRule{{Name: "unavailable_after", Until: now.AddDate(0, 0, -1)}} }, false},
		{"available until tomorrow", func(p *Page) { p.Robots = []RobotsRule{{Name: "unavailable_after", Until: now.AddDate(0, 0, 1)}} }, true},
		{"available until nobody knows", func(p *Page) { p.Robots = []RobotsRule{{Name: "unavailable_after"}} }, true},
		{"canonical is itself", func(p *Page) { p.Canonicals = canonical(url, "", url) }, true},
		{"canonical is another", func(p *Page) { p.Canonicals = canonical("https://a.example/x") }, false},
		{"canonicals disagree", func(p *Page) { p.Canonicals = canonical("https://a.example/x", "https://a.example/y") }, true},
	}
	for _, test := range tests {
		p := &Page{URL: url, Status: 200, IsHTML: true, FetchedAt: now}
		if test.change(p); p.Indexable() != test.want {
			t.Errorf("%s: indexable is %t", test.name, !test.want)
		}
	}
}

func TestBrokenResources(t *testing.T) {
	tests := []struct {
		resource Resource
		want     bool
	}{
		{Resource{Status: 200}, false},
		{Resource{Status: 404}, true},
		{Resource{Status: 503}, true},
		{Resource{Status: 403}, false},
		{Resource{Status: 403, Internal: true}, true},
		{Resource{Status: 999}, false},
		{Resource{Failure: FailedName}, true},
		{Resource{Failure: FailedLoop}, true},
		{Resource{Failure: FailedAddress}, false},
		{Resource{Failure: FailedRobots}, false},
		{Resource{Failure: FailedBusy}, false},
	}
	for _, test := range tests {
		if got := test.resource.Broken(); got != test.want {
			t.Errorf("%+v is broken: %t", test.resource, got)
		}
	}
}

func TestTargets(t *testing.T) {
	p := &Page{
		URL:        "https://a.example/",
		Links:      []Link{{URL: "https://a.example/x", Internal: true}, {URL: "https://b.example/"}},
		Canonicals: []Canonical{{URL: "https://a.example/"}, {URL: ""}, {URL: "https://a.example/y", Internal: true}},
		Images:     []Image{{URL: "https://b.example/i.png"}},
	}
	want := []Target{{"https://a.example/x", KindPage, true}, {"https://b.example/", KindExternal, true}, {"https://a.example/y", KindPage, false}, {"https://b.example/i.png", KindImage, false}}
	if diff := cmp.Diff(want, p.Targets()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPackKeepsEverything fills every field, so that one that Pack forgets is missed.
func TestPackKeepsEverything(t *testing.T) {
	page := new(Page)
	fill(reflect.ValueOf(page).Elem(), new(int))
	for _, p := range []*Page{page, {URL: "https://a.example/"}, {}} {
		packed, err := p.Pack()
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnpackPage(packed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("packed (-), unpacked (+):\n%s", diff)
		}
	}
}

// fill gives every field within a value something of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(now.Add(time.Duration(*n) * time.Second)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic(v.Kind())
	}
}

// FuzzUnpackPage demands that damaged facts are refused, and that whatever is read can be packed again to the same.
func FuzzUnpackPage(f *testing.F) {
	page := new(Page)
	fill(reflect.ValueOf(page).Elem(), new(int))
	packed, err := page.Pack()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{packed, packed[:len(packed)/2], nil, {1}, {2, 3}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := UnpackPage(data)
		if err != nil {
			return
		}
		again, err := p.Pack()
		if err != nil {
			t.Fatal(err)
		}
		q, err := UnpackPage(again)
		if err != nil || !cmp.Equal(p, q) {
			t.Errorf("%v:\n%s", err, cmp.Diff(p, q))
		}
	})
}

func TestScorePage(t *testing.T) {
	shown := Page{URL: "https://a.example/", Status: 200, IsHTML: true}
	tests := []struct {
		name               string
		change             func(*Page)
		passed, applicable int
		want               PageScore
	}{
		{"all passed", func(*Page) {}, 40, 40, PageScore{40, 40, true, 100}},
		{"rounded down", func(*Page) {}, 1, 3, PageScore{1, 3, true, 33}},
		{"rounded up", func(*Page) {}, 2, 3, PageScore{2, 3, true, 67}},
		{"halves up", func(*Page) {}, 1, 8, PageScore{1, 8, true, 13}},
		{"nothing passed", func(*Page) {}, 0, 10, PageScore{0, 10, true, 0}},
		{"an error has nothing to offer", func(p *Page) { p.Status, p.IsHTML = 404, false }, 20, 30, PageScore{20, 30, true, 0}},
		{"nor has what does not answer", func(p *Page) { p.Status, p.IsHTML, p.Failure = 0, false, FailedTLS }, 20, 30, PageScore{20, 30, true, 0}},
		{"a redirect is no page", func(p *Page) { p.Hops = []Hop{{Status: 301}} }, 30, 31, PageScore{30, 31, false, 97}},
		{"noindex does not count", func(p *Page) { p.Robots = []RobotsRule{{Name: "noindex"}} }, 30, 40, PageScore{30, 40, false, 75}},
		{"disallowed does not count", func(p *Page) { p.Failure, p.Status = FailedRobots, 0 }, 0, 0, PageScore{0, 0, false, 0}},
		{"an image is no page", func(p *Page) { p.IsHTML = false }, 30, 30, PageScore{30, 30, false, 100}},
	}
	for _, test := range tests {
		p := shown
		test.change(&p)
		if got := ScorePage(&p, test.passed, test.applicable); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
