package seo

import (
	"testing"
	"unicode/utf8"
)

func TestResult(t *testing.T) {
	for score, want := range map[int]string{0: "bad", 49: "bad", 50: "decent", 79: "decent", 80: "good", 100: "good"} {
		if got := (&Project{Score: &score}).Result(); got != want {
			t.Errorf("%d is %s, want %s", score, got, want)
		}
	}
	if got := (&Project{}).Result(); got != "" {
		t.Errorf("no score is %q", got)
	}
}

// FuzzParseRef demands that whatever names a project can be its name, and then names just that project.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"example.com", "WWW.Example.com:80", "7", "007", "0", "a/b", "..", "B\u00fccher.example", "\xff", "\x00", "1.2", "18446744073709551616", "\U0001f469\u200d\U0001f4bb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseRef(text)
		if err != nil {
			return
		}
		if ref.ID < 0 || (ref.ID == 0) == (ref.Name == "") || !utf8.ValidString(ref.Name) || utf8.RuneCountInString(ref.Name) > MaxProjectName {
			t.Errorf("ParseRef(%q) = %+v", text, ref)
		}
		if ref.Name == "" {
			return
		}
		var p Project
		if err := p.SetName(ref.Name); err != nil || p.Name != ref.Name {
			t.Errorf("the name %q of %q becomes %q, %v", ref.Name, text, p.Name, err)
		}
	})
}
