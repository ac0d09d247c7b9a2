package apikit

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"sightline/internal/fault"
	"sightline/internal/receipt"
)

// once does a POST with an idempotency key at most once: the same request again gets the first answer.
func (e *endpoint) once(w http.ResponseWriter, r *http.Request, route Route) error {
	keys := r.Header.Values("Idempotency-Key")
	if r.Method != http.MethodPost || len(keys) == 0 {
		return route.Serve(w, r)
	}
	call := CallOf(r)
	if len(keys) > 1 || !isKey(keys[0]) {
		return refuse(http.StatusBadRequest, "The header Idempotency-Key must be 1 to 255 printable characters.")
	}
	call.receipt = &receipt.Receipt{AccountID: call.Key.AccountID, Operation: r.Method + " " + r.URL.EscapedPath(), Key: keys[0],
		Request: call.request, CreatedAt: e.router.Now().UTC().Truncate(time.Second)}
	first, err := e.router.Receipts.Receipt(r.Context(), call.receipt.AccountID, call.receipt.Operation, call.receipt.Key)
	if errors.Is(err, fault.NotFound) {
		err = route.Serve(w, r)
		var used *receipt.Used
		if !errors.As(err, &used) {
			return err
		}
		first, err = used.First, nil // a twin was faster
	}
	if err != nil {
		return err
	}
	if first.Request != call.request {
		return fault.Field("Idempotency-Key", "was used before with another body")
	}
	for name, value := range first.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Idempotency-Replayed", "true")
	return Write(w, first.Status, json.RawMessage(first.Answer))
}

func isKey(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return len(text) >= 1 && len(text) <= 255
}

// Receipt is what a write must store to be repeatable; nil when the caller sent no idempotency key. The answer is
// taken when the record has its id.
func Receipt(r *http.Request, answer func() Answer) *receipt.Receipt {
	once := CallOf(r).receipt
	if once == nil {
		return nil
	}
	once.Seal = func(once *receipt.Receipt) (err error) {
		final := answer()
		once.Status, once.Header = final.Status, final.Header
		once.Answer, err = encode(final.Document)
		return err
	}
	return once
}
