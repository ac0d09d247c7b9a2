package sitemap

import "io"

// ReadWithin reads a sitemap within smaller bounds.
func ReadWithin(from io.Reader, urls, tokens int, size int64) *File {
	return read(from, limits{urls, tokens, size})
}
