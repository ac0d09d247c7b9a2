package analytics

import (
	"slices"
	"testing"
)

func TestCountries(t *testing.T) {
	if got, found := CountryOf("US"); !found || got != (Country{"US", "NA", "United States"}) {
		t.Errorf("US is %v, %v", got, found)
	}
	for _, code := range []string{"", "us", "XX", "ZZZ"} {
		if got, found := CountryOf(code); found {
			t.Errorf("%q is %v, want none", code, got)
		}
	}
	if !slices.IsSortedFunc(Countries, func(a, b Country) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	}) {
		t.Error("the countries are not in the order of their codes, or one is there twice")
	}
	for _, country := range Countries {
		if len(country.Code) != 2 || country.Name == "" || ContinentName(country.Continent) == "" {
			t.Errorf("%v is not complete", country)
		}
	}
}
