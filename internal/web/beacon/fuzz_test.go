package beacon

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"testing"
	"unicode/utf8"

	"sightline/internal/collect"
	"sightline/internal/fault"
)

// fuzzFormat demands of a decoder that it never fails but for bad fields, and that its hits keep to the limits.
func fuzzFormat(f *testing.F, decode func(payload) ([]collect.Hit, error), seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := parsePayload(body)
		if err != nil {
			return
		}
		hits, err := decode(p)
		checkHits(t, hits, err)
	})
}

func checkHits(t *testing.T, hits []collect.Hit, err error) {
	t.Helper()
	if err != nil {
		if bad, ok := err.(fault.Invalid); !ok || len(bad) == 0 {
			t.Errorf("failed with %v", err)
		}
		return
	}
	if len(hits) > maxDomains {
		t.Errorf("%d hits", len(hits))
	}
	for _, h := range hits {
		texts := []string{h.Site, h.Domain, h.Name, h.URL, h.Referrer, h.Screen, h.Unit, h.Agent}
		for key, value := range h.Props {
			texts = append(texts, key, value)
		}
		for _, text := range texts {
			if !utf8.ValidString(text) {
				t.Errorf("%q is not valid UTF-8", text)
			}
		}
		if h.Name == "" || utf8.RuneCountInString(h.Name) > maxName || len(h.Props) > maxProps || h.Depth < 0 || h.Depth > 100 ||
			h.Engagement < 0 || h.Engagement > maxInView || math.IsNaN(h.Value) || math.IsInf(h.Value, 0) {
			t.Errorf("%+v", h)
		}
	}
}

// FuzzPayload demands that a report has the fields that the JSON package finds in it, and is refused when that refuses it.
func FuzzPayload(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : 1 , "b":[1,{"c":"]}"}] ,"a":{"x":[]} } `, `{"\u0061":"\"}","b":null,"c":-1.5e3,"d":true}`, "{\"\xff\":\"\xff\"}",
		`null`, `[]`, `{`, `{"a"}`, `{"a":1,}`, `{"a":1}x`, ``, `"{}"`, "{\"a\":\t\"\\\\\"\n}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want map[string]json.RawMessage
		wrong := json.Unmarshal(body, &want) != nil || want == nil
		got, err := parsePayload(body)
		if (err != nil) != wrong {
			t.Fatalf("failed with %v", err)
		}
		for name, value := range want {
			if string(value) == "null" {
				value = nil
			}
			if found := got.find(name); !bytes.Equal(found, value) {
				t.Errorf("%q is %q, not %q", name, found, value)
			}
		}
		for _, field := range got {
			if _, known := want[string(field.name)]; !known {
				t.Errorf("%q is no field", field.name)
			}
		}
	})
}

func FuzzOwn(f *testing.F) {
	fuzzFormat(f, decodeOwn, `{"s":"abc","n":"signup","u":"https://example.com/","r":"","w":1920,"p":{"a":"b","c":1},"v":1.5,"e":1000,"d":50,"h":""}`,
		`{"s":"abc","ua":"x","ip":"::1"}`, `{"s":1,"d":"1e9","e":-1,"p":"{\"a\":true}"}`, "{\"s\":\"\xff\\ud800\"}", `{"s":null}`)
}

func FuzzClassic(f *testing.F) {
	fuzzFormat(f, decodeClassic, `{"page":"https://example.com/","referrer":"","screen_resolution":"1x1","event":{"name":"a","value":"1","unit":"b"}}`,
		`{"page":1,"event":[]}`, `{"page":"x","event":{"name":"a","value":"1e308"}}`, "{\"page\":\"\xff\"}")
}

func FuzzPlausible(f *testing.F) {
	fuzzFormat(f, decodePlausible, `{"n":"pageview","u":"https://example.com/","d":"a,b","r":null,"w":1,"h":1,"p":"{\"a\":1}","$":{"amount":"1","currency":"eur"}}`,
		`{"name":"engagement","url":"x://y","sd":"50","e":"7","props":{"":1,"a":[]}}`, `{"n":404,"u":"data:x","d":""}`, `{"n":"a","u":"a://b","r":"é","$":"{}"}`)
}

func FuzzPixel(f *testing.F) {
	for _, seed := range []string{"s=abc&u=https%3A%2F%2Fexample.com%2F", "s=abc&n=x&v=1&p=%7B%22a%22%3A1%7D", "s=%ff&d=1e400", "ip=::1&s=x&s=y"} {
		f.Add(seed, "https://example.com/")
	}
	f.Fuzz(func(t *testing.T, text, referer string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		p, err := pixelPayload(query, referer)
		var hits []collect.Hit
		if err == nil {
			hits, err = decodeOwn(p)
		}
		checkHits(t, hits, err)
	})
}
