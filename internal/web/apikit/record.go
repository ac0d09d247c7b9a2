package apikit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
)

// An Answer is a JSON document with its status and headers.
type Answer struct {
	Status   int
	Header   map[string]string
	Document any
}

// Record is the answer that carries one record, with the tag of its version if it has one.
func Record(status int, tag string, data any) Answer {
	answer := Answer{Status: status, Header: map[string]string{}, Document: struct {
		Data   any `json:"data"`
		Status int `json:"status"`
	}{data, status}}
	if tag != "" {
		answer.Header["ETag"] = tag
	}
	return answer
}

// Created is the answer to the creation of a record at an address.
func Created(address, tag string, data any) Answer {
	answer := Record(http.StatusCreated, tag, data)
	answer.Header["Location"] = address
	return answer
}

// Write answers the request; one that asks for a version that the caller has already, with 304.
func (a Answer) Write(w http.ResponseWriter, r *http.Request) error {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if known := r.Header.Values("If-None-Match"); len(known) > 0 && a.Header["ETag"] != "" && matches(known, a.Header["ETag"], true) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	return Write(w, a.Status, a.Document)
}

// Tag is the ETag of a version of a record.
func Tag(id, version int64) string {
	return fmt.Sprintf(`"%d-%d"`, id, version)
}

// ContentTag is the ETag of a record without versions: it changes with what answers show of it.
func ContentTag(id int64, data any) (string, error) {
	content, err := encode(data)
	sum := sha256.Sum256(content)
	return Tag(id, int64(binary.BigEndian.Uint64(sum[:])>>1)), err
}

// CheckMatch refuses a request whose If-Match does not name the version that the record has.
func CheckMatch(r *http.Request, tag string) error {
	if wanted := r.Header.Values("If-Match"); len(wanted) > 0 && !matches(wanted, tag, false) {
		return errChanged
	}
	return nil
}

// SameVersion refuses a version of a record that If-Match does not name.
func SameVersion(r *http.Request, id int64) func(version int64) error {
	return func(version int64) error { return CheckMatch(r, Tag(id, version)) }
}

var errChanged = refuse(http.StatusPreconditionFailed, "The record has changed since: read it again.")

// matches says whether a list of tags names one, as * alone does. A weak tag (W/"…") counts only for reads.
func matches(headers []string, tag string, weak bool) bool {
	list := strings.Join(headers, ",")
	if strings.TrimSpace(list) == "*" {
		return true
	}
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if weak {
			entry = strings.TrimPrefix(entry, "W/")
		}
		if entry == tag {
			return true
		}
	}
	return false
}
