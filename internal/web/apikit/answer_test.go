package apikit

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"sightline/internal/fault"
)

// The answer that is made with the least work is the one that is made for everything else that is not available.
func TestBusyAnswer(t *testing.T) {
	for _, id := range []string{"id", `a "quoted" \id<>&`} {
		answers := [2]*httptest.ResponseRecorder{}
		for i, err := range []error{fault.Busy, fault.Unavailable} {
			answers[i] = httptest.NewRecorder()
			Fail(answers[i], Begin(httptest.NewRequest("POST", "/", nil), id), err, slog.New(slog.DiscardHandler))
		}
		busy, other := answers[0], answers[1]
		if busy.Code != other.Code || busy.Body.String() != other.Body.String() || busy.Header().Get("Retry-After") != other.Header().Get("Retry-After") {
			t.Errorf("%s: %d %v %s, not %d %v %s", id, busy.Code, busy.Header(), busy.Body, other.Code, other.Header(), other.Body)
		}
	}
}
