package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"sightline/client"
)

func TestWorded(t *testing.T) {
	other := errors.New("something\telse")
	for _, c := range []struct {
		err  error
		want string
	}{
		{other, "something\telse"},
		{&client.Error{Status: 401, Message: "No."}, "the server does not accept the API key: check SIGHTLINE_API_KEY, or make another with sightline key create"},
		{fmt.Errorf("website 7: %w", &client.Error{Status: 404, Message: "There is no such record.\x1b[2J", RequestID: "R"}), "website 7: There is no such record.\uFFFD[2J"},
		{&client.Error{Status: 500, Message: "Something went wrong here.", RequestID: "R"}, "Something went wrong here. (request R)"},
		{&client.Error{Status: 502, Message: "The server answered 502 Bad Gateway."}, "The server answered 502 Bad Gateway."},
		{&client.ConnectionError{Base: "http://localhost:1", Err: io.ErrUnexpectedEOF}, "cannot reach http://localhost:1: unexpected EOF: is the server running, and is this its address?"},
	} {
		if got := worded(c.err).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestInterruptedCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := call(t, ctx, "websites", "list", "--api-key", "k", "--analytics-url", "http://localhost:1")
	if code != exitFailed || stderr != "sightline: interrupted\n" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}
