package collect

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sightline/internal/analytics"
)

// anyEvent draws an event as the collector makes them.
func anyEvent(t *rapid.T) analytics.Event {
	e := analytics.Event{
		Website: rapid.Int64().Draw(t, "website"), At: time.UnixMilli(rapid.Int64Range(-1e12, 1e13).Draw(t, "at")).UTC(),
		Visitor: rapid.Uint64().Draw(t, "visitor"), Visit: rapid.Uint64().Draw(t, "visit"),
		Kind: analytics.Kind(rapid.Uint8().Draw(t, "kind")), Depth: rapid.Uint8().Draw(t, "depth"), Value: rapid.Float64().Draw(t, "value"),
		Engagement: time.Duration(rapid.Int64Range(0, 1e8).Draw(t, "engagement")) * time.Millisecond,
	}
	for _, text := range texts(&e) {
		*text = rapid.String().Draw(t, "text")
	}
	if props := rapid.MapOfN(rapid.String(), rapid.String(), 0, 5).Draw(t, "props"); len(props) > 0 {
		e.Props = props
	}
	return e
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := analytics.Batch{Events: rapid.SliceOfN(rapid.Custom(anyEvent), 0, 4).Draw(t, "events")}
		for range rapid.IntRange(0, 3).Draw(t, "drops") {
			want.Drops = append(want.Drops, analytics.Drop{Website: rapid.Int64().Draw(t, "website"), At: time.UnixMilli(rapid.Int64Range(0, 1e13).Draw(t, "at")).UTC(),
				Reason: rapid.String().Draw(t, "reason"), Page: rapid.String().Draw(t, "page"), Agent: rapid.String().Draw(t, "agent")})
		}
		record := encode([]byte("before"), want.Events, want.Drops)[len("before"):]
		var got analytics.Batch
		if err := decode(record, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(record)-1).Draw(t, "cut")
		if err := decode(record[:cut], &got); err == nil {
			t.Fatalf("a record of %d bytes is read without its last %d", len(record), len(record)-cut)
		}
		if len(got.Events) != len(want.Events) || len(got.Drops) != len(want.Drops) {
			t.Fatal("a record that cannot be read changed the batch")
		}
	})
}

// A field that is new in an event must be in the record too.
func TestRecordHoldsEveryText(t *testing.T) {
	var e analytics.Event
	for _, text := range texts(&e) {
		if *text != "" {
			t.Fatal("a field is there twice")
		}
		*text = "x"
	}
	e.Website, e.At, e.Visitor, e.Visit, e.Kind, e.Value, e.Engagement, e.Depth = 1, time.UnixMilli(1).UTC(), 1, 1, 1, 1, time.Millisecond, 1
	e.Props = map[string]string{"a": "b"}
	var got analytics.Batch
	if err := decode(encode(nil, []analytics.Event{e}, nil), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got.Events[0]); diff != "" {
		t.Error(diff)
	}
	missing := cmp.Diff(analytics.Event{}, e, cmp.FilterPath(func(p cmp.Path) bool { return true }, cmp.Comparer(func(a, b string) bool { return a == "x" || b == "x" })))
	if strings.Contains(missing, `string("")`) {
		t.Error(missing)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(nil, []analytics.Event{{Page: "/", Props: map[string]string{"a": "b"}, Value: math.Inf(1)}}, []analytics.Drop{{Reason: "bot"}}))
	f.Add([]byte{format, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, record []byte) {
		var batch analytics.Batch
		if err := decode(record, &batch); err != nil {
			return
		}
		again := encode(nil, batch.Events, batch.Drops)
		var second analytics.Batch
		if err := decode(again, &second); err != nil || !cmp.Equal(batch, second, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()) {
			t.Errorf("%x is read as %+v and then as %+v, %v", record, batch, second, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := analytics.Event{Website: 1, At: time.Now(), Page: "/blog/a-title", Agent: analytics.Agent{Browser: "Chrome", OS: "Windows", Device: "desktop"}}
	var body []byte
	for b.Loop() {
		body = encode(body[:0], []analytics.Event{e}, nil)
	}
}

func BenchmarkDecode(b *testing.B) {
	e := analytics.Event{Website: 1, At: time.Now(), Page: "/blog/a-title", Agent: analytics.Agent{Browser: "Chrome", OS: "Windows", Device: "desktop"}}
	record, batch := encode(nil, []analytics.Event{e}, nil), analytics.Batch{}
	for b.Loop() {
		batch.Events = batch.Events[:0]
		if err := decode(record, &batch); err != nil {
			b.Fatal(err)
		}
	}
}
