package apidoc

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestBlocks(t *testing.T) {
	got := blocks("Send `url` or `domain`.\n\n## Answers\n\n```\nexport KEY=sl_…\n```\n\n\n\n`x` only")
	want := []block{
		{Spans: []span{{"Send ", false}, {"url", true}, {" or ", false}, {"domain", true}, {".", false}}},
		{Heading: "Answers"},
		{Code: "export KEY=sl_…"},
		{Spans: []span{{"x", true}, {" only", false}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestQuote(t *testing.T) {
	if got, want := quote(`it's $HOME`), `'it'\''s $HOME'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An empty value is sent as it is, but people need a word for it.
func TestEmptyValues(t *testing.T) {
	form := ordered[json.RawMessage]{{"exclude_ips", json.RawMessage(`""`)}}
	if got, want := newCommand("PUT", "/x", false).withForm(form).text(), "curl -X PUT '/x' \\\n  --data-urlencode 'exclude_ips='"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := inWords(json.RawMessage(`""`)); got != "empty" {
		t.Errorf("in words: %q", got)
	}
}

func TestSchemaInWords(t *testing.T) {
	for _, test := range []struct{ schema, kind, allowed string }{
		{`{"type": "string"}`, "string", ""},
		{`{"type": ["string", "null"], "format": "date-time"}`, "time or null", ""},
		{`{"type": ["integer", "string"], "enum": [0, 1, ""]}`, "integer", "0, 1, empty"},
		{`{"type": ["string", "null"], "enum": ["good", null]}`, "string or null", "good, null"},
		{`{"type": ["integer", "string", "null"], "enum": [0, 1, "0", "1", "", null]}`, "integer or null", "0, 1, empty, null"},
		{`{"type": ["string", "number", "null"]}`, "string or null", ""},
		{`{"const": 200}`, "integer", "200"},
		{`{"const": true}`, "boolean", "true"},
		{`{"const": "website"}`, "string", "website"},
		{`{"type": "integer", "minimum": 1, "maximum": 1000000}`, "integer", "1 to 1,000,000"},
		{`{"type": "integer", "minimum": 1}`, "integer", "1 or more"},
		{`{"type": "string", "minLength": 1, "maxLength": 2048}`, "string", "1 to 2,048 characters"},
		{`{"type": "string", "maxLength": 200}`, "string", "up to 200 characters"},
	} {
		var s schema
		if err := json.Unmarshal([]byte(test.schema), &s); err != nil {
			t.Fatal(err)
		}
		if s.kind() != test.kind || s.allowed() != test.allowed {
			t.Errorf("%s: %q, %q; want %q, %q", test.schema, s.kind(), s.allowed(), test.kind, test.allowed)
		}
	}
}

func TestOrdered(t *testing.T) {
	const text = `{"z":{"<b>":1},"a":2}`
	var object ordered[json.RawMessage]
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	out, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again ordered[json.RawMessage]
	if err := json.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(object, again) {
		t.Errorf("%s became %s: %v", text, out, err)
	}
	for _, bad := range []string{`[]`, `{"a":1,"a":2}`, `5`} {
		if err := json.Unmarshal([]byte(bad), &object); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	var numbers ordered[int]
	if err := json.Unmarshal([]byte(`{"a":"x"}`), &numbers); err == nil {
		t.Error("text is read as a number")
	}
}
