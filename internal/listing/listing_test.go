package listing

import "testing"

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"Straße", "STRASSE", "strasse"}, {"ΟΔΟΣ", "οδος", "οδοσ"}, {"ÜBER", "über", "U\u0308ber"}, {"İstanbul", "istanbul", "ISTANBUL"},
		{"ﬁ", "FI"}, {"K", "\u212a"}, {"example.com", "EXAMPLE.com"},
	} {
		for _, text := range same {
			if Fold(text) != Fold(same[0]) {
				t.Errorf("%q and %q fold to %q and %q", same[0], text, Fold(same[0]), Fold(text))
			}
		}
	}
	if Fold("a") == Fold("b") {
		t.Error("different letters fold to the same")
	}
}

func TestLastPage(t *testing.T) {
	for total, want := range map[int]int{0: 1, 1: 1, 10: 1, 11: 2, 100: 10, 101: 11} {
		if got := LastPage(total, 10); got != want {
			t.Errorf("LastPage(%d, 10) = %d, want %d", total, got, want)
		}
	}
}
