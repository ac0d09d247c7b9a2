package analytics

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzStored(f *testing.F) {
	f.Add("/page", "name", "value", int64(5), uint8(50), 1.5)
	f.Add("\xff\xfe", strings.Repeat("ä", 1500), "", int64(-5), uint8(255), 0.0)
	f.Fuzz(func(t *testing.T, page, name, value string, engagement int64, depth uint8, number float64) {
		e := Event{Page: page, Name: name, Value: number, Engagement: time.Duration(engagement), Depth: depth, Props: map[string]string{name: value, page: name}}.Stored()
		for _, field := range []string{e.Page, e.Name} {
			if !utf8.ValidString(field) || len(field) > MaxText {
				t.Errorf("the field %q is stored", field)
			}
		}
		for name, value := range e.Props {
			if name == "" || value == "" || !utf8.ValidString(name+value) || len(name) > MaxPropName || len(value) > MaxPropValue {
				t.Errorf("the property %q = %q is stored", name, value)
			}
		}
		if e.Depth > 100 || e.Engagement < 0 || e.Value != e.Value {
			t.Errorf("stored is %+v", e)
		}
		again := e.Stored()
		if again.Page != e.Page || again.Name != e.Name || !maps.Equal(again.Props, e.Props) || again.Engagement != e.Engagement {
			t.Errorf("storing again changes %+v into %+v", e, again)
		}
	})
}

// TestStoredTexts stores text that is too long and broken in every field that holds text, wherever it is declared.
func TestStoredTexts(t *testing.T) {
	var e Event
	texts := texts(reflect.ValueOf(&e).Elem())
	for _, field := range texts {
		field.SetString("\xff" + strings.Repeat("a", MaxText))
	}
	e = e.Stored()
	want := "\uFFFD" + strings.Repeat("a", MaxText-len("\uFFFD"))
	for i, field := range texts {
		if field.String() != want {
			t.Errorf("text %d is stored with %d bytes that begin with %q", i, field.Len(), short(field.String()))
		}
	}
	if len(texts) != 22 {
		t.Errorf("an event has %d texts, want 22", len(texts))
	}
}

// texts are the fields of a struct that hold text, also those of structs in it.
func texts(of reflect.Value) (list []reflect.Value) {
	for _, field := range of.Fields() {
		switch {
		case field.Kind() == reflect.String:
			list = append(list, field)
		case field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]():
			list = append(list, texts(field)...)
		}
	}
	return list
}

// TestStoredAllocates stores an event as most are, which needs no memory.
func TestStoredAllocates(t *testing.T) {
	for _, props := range []map[string]string{nil, {}, {"plan": "free"}} {
		e := Event{Page: "/a", Agent: Agent{Browser: "Firefox"}, Props: props}
		if n := testing.AllocsPerRun(100, func() { e = e.Stored() }); n != 0 {
			t.Errorf("storing an event with %d properties allocates %v times", len(props), n)
		}
	}
}
