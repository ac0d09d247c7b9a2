package audit

import (
	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/seo"
)

// kinds pairs what a crawl calls an address with what a store does.
var kinds = map[crawl.Kind]seo.Kind{
	crawl.Page: seo.KindPage, crawl.Image: seo.KindImage, crawl.Asset: seo.KindAsset, crawl.External: seo.KindExternal,
}

func crawlKind(kind seo.Kind) crawl.Kind {
	for ours, theirs := range kinds {
		if theirs == kind {
			return ours
		}
	}
	return crawl.External
}

// normal is an address in the form of the crawl.
func normal(text string) (string, error) {
	to, err := address.Parse(text)
	return to.URL, err
}
