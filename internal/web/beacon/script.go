package beacon

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

//go:generate ../../../scripts/tracker

//go:embed s.js
var tracker []byte

// A script is the tracker as it is served, plain and compressed.
type script struct {
	plain, packed []byte
	version       string // of its content
}

func newScript() *script {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(tracker)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		panic(err) // memory does not fail, and the level is a constant
	}
	sum := sha256.Sum256(tracker)
	return &script{tracker, packed.Bytes(), hex.EncodeToString(sum[:8])}
}

// serve serves GET /js/s.js. Pages on many sites load it: browsers keep it for an hour, and for a day while they ask for a
// newer one.
func (s *script) serve(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Set("Content-Type", "text/javascript; charset=utf-8")
	header.Set("Cache-Control", "public, max-age=3600, stale-while-revalidate=86400")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Vary", "Accept-Encoding")
	content, version := s.plain, s.version
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		content, version = s.packed, s.version+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+version+`"`)
	asked := &http.Request{Method: r.Method, Header: http.Header{"If-None-Match": r.Header.Values("If-None-Match")}} // a part of it, or another version, is of no use
	http.ServeContent(w, asked, "", time.Time{}, bytes.NewReader(content))
	return nil
}

// acceptsGzip says whether a caller that sent this Accept-Encoding reads gzip.
func acceptsGzip(header string) bool {
	for entry := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(entry, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight, _ := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
