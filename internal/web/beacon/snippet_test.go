package beacon_test

import (
	"testing"

	"sightline/internal/web/beacon"
)

func TestSnippet(t *testing.T) {
	for _, test := range []struct {
		snippet beacon.Snippet
		want    string
	}{
		{beacon.Snippet{Base: "https://stats.example.com/", Site: "abc"}, `<script defer src="https://stats.example.com/js/s.js" data-site="abc"></script>` + "\n"},
		{beacon.Snippet{Base: "https://stats.example.com", Site: "abc", Hash: true, Outbound: true, DNT: true, Local: true, Downloads: "pdf|zip"},
			`<script defer src="https://stats.example.com/js/s.js" data-site="abc" data-hash data-outbound data-dnt data-local data-downloads="pdf|zip"></script>` + "\n"},
		{beacon.Snippet{Base: "https://stats.example.com", Site: `"><b>&`, NoScript: true},
			`<script defer src="https://stats.example.com/js/s.js" data-site="&#34;&gt;&lt;b&gt;&amp;"></script>
<noscript><img src="https://stats.example.com/api/event.gif?s=%22%3E%3Cb%3E%26" referrerpolicy="no-referrer-when-downgrade" alt="" hidden></noscript>
`},
	} {
		if got := test.snippet.String(); got != test.want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.snippet, got, test.want)
		}
	}
}
